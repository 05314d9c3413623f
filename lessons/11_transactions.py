# %% [markdown]
# # All of it, or none?
#
# **You will** write records of three topics so that readers see all of them or none, find a transaction that hangs and end it, and kill a worker in ten places without losing or doubling a transfer.
#
# *{minutes} minutes, and {further} more if you go further. You need lab 06: committed offset, and what a killed worker loses; and lab 10: idempotence.*

# %%
from threebrokers import open_lab

lab = open_lab("11")

# %% [markdown]
# Three questions from earlier labs, to see what is still there:

# %%
lab.review()

# %% [markdown] covers="E123 A006" explains="transaction, transactional.id"
# ## Three records that belong together
#
# A **transaction** is a group of records, in any topics and partitions of a cluster, of which readers who ask for it get all or none. A producer needs a name for that, its `transactional.id`, which also switches idempotence on. (Here `lab.topic(…)` makes such a name; it makes no topic.) The producer calls `init_transactions()` once. Then each transaction begins with `begin_transaction()`, and ends with `commit_transaction()` or `abort_transaction()`.
#
# An author will write three drafts in one transaction. `flush()` waits until all three are acknowledged. Then the author takes them back. A reader's setting `isolation.level` says how it treats transactions: it is `read_committed` or `read_uncommitted`. Two readers read the topic, one with each.

# %%
guess_11a = lab.predict("11.a")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_11a.choose("0 and 3")
# END SOLUTION

# %%
from threebrokers.lab.scenarios import seen_at_both_levels

drafts, name = lab.fresh_topic("drafts", replication_factor=3), lab.topic("author")
acknowledged = []
author = lab.producer({"transactional.id": name})
author.init_transactions()
author.begin_transaction()
for number in range(3):
    author.produce(drafts, f"draft {number}", on_delivery=lambda error, m: acknowledged.append(m.offset()))
author.flush()
print("acknowledged at the offsets", acknowledged)
author.abort_transaction()
seen = seen_at_both_levels(lab, [drafts])
guess_11a.compare(f"{seen['read_committed'].sum()} and {seen['read_uncommitted'].sum()}")
seen

# %% [markdown] covers="E124" explains="isolation.level, abort"
# An abort deletes nothing. Each *reader* decides with `isolation.level` whether it passes over the records. This client's default is `read_committed`; Java's is `read_uncommitted`, and so is that of Kafka's own tools and of Spark. So a Java consumer that nobody has configured processes what was taken back.

# %% [markdown]
# ### Exercise 11.1: All three, or none
#
# A shop writes an order, a payment and an entry for its auditors, in three topics. `basket.pay()` asks the bank, which refuses two of twelve baskets. This is the program as it is:

# %%
from threebrokers.lab.scenarios import CardRefusedError, baskets

SHOP = ("shop-orders", "shop-payments", "shop-audit")
orders, payments, audit = (lab.fresh_topic(topic, replication_factor=3) for topic in SHOP)
clerk = lab.producer({"enable.idempotence": True})
for basket in baskets():
    try:
        clerk.produce(orders, basket.order())
        clerk.produce(payments, basket.pay())
        clerk.produce(audit, basket.entry())
    except CardRefusedError as refusal:
        print(refusal)
clerk.flush()
seen_at_both_levels(lab, [orders, payments, audit])

# %% [markdown]
# Two orders have no payment. Write it so that the three records of a basket are one thing, also if the program dies between two lines. Of a basket that is refused, a reader of committed records sees nothing. Name your producer `desk`.

# %%
orders, payments, audit = (lab.fresh_topic(topic, replication_factor=3) for topic in SHOP)
# TODO: make `desk`, and write the baskets
# BEGIN SOLUTION
desk = lab.producer({"transactional.id": lab.topic("desk")})
desk.init_transactions()
for basket in baskets():
    desk.begin_transaction()
    try:
        desk.produce(orders, basket.order())
        desk.produce(payments, basket.pay())
        desk.produce(audit, basket.entry())
        desk.commit_transaction()
    except CardRefusedError:
        desk.abort_transaction()
# END SOLUTION
seen_at_both_levels(lab, [orders, payments, audit])

# %% [markdown]
# <details><summary>Hint</summary>
#
# What should be visible if the program dies after the second `produce`? And how does a transaction end if the bank says no?
#
# </details>
# <details><summary>Another hint</summary>
#
# `begin_transaction()` and `commit_transaction()` once for each basket; `abort_transaction()` in the `except`. `flush()` ends nothing.
#
# </details>

# %% tags=["wrong"]
# leaves it as it is | were written without a transaction
desk = lab.producer({"enable.idempotence": True})
for basket in baskets():
    try:
        desk.produce(orders, basket.order())
        desk.produce(payments, basket.pay())
        desk.produce(audit, basket.entry())
    except CardRefusedError as refusal:
        print(refusal)
desk.flush()

# %% tags=["wrong"]
# a transaction for each record | were committed with records of
desk = lab.producer({"transactional.id": lab.topic("desk")})
desk.init_transactions()
for basket in baskets():
    for topic, make in ((orders, basket.order), (payments, basket.pay), (audit, basket.entry)):
        desk.begin_transaction()
        try:
            desk.produce(topic, make())
            desk.commit_transaction()
        except CardRefusedError:
            desk.abort_transaction()
            break

# %% tags=["wrong"]
# the entries of the audit in a transaction of their own | who read between two commits
desk = lab.producer({"transactional.id": lab.topic("desk")})
desk.init_transactions()
desk.begin_transaction()
entries = []
for basket in baskets():
    try:
        payment = basket.pay()
    except CardRefusedError:
        continue
    desk.produce(orders, basket.order())
    desk.produce(payments, payment)
    entries.append(basket.entry())
desk.commit_transaction()
desk.begin_transaction()
for entry in entries:
    desk.produce(audit, entry)
desk.commit_transaction()

# %% tags=["wrong"]
# forgets to abort | although the bank has refused
desk = lab.producer({"transactional.id": lab.topic("desk")})
desk.init_transactions()
for basket in baskets():
    desk.begin_transaction()
    try:
        desk.produce(orders, basket.order())
        desk.produce(payments, basket.pay())
        desk.produce(audit, basket.entry())
    except CardRefusedError as refusal:
        print(refusal)
    desk.commit_transaction()

# %% tags=["wrong"]
# takes flush for the end | is still open: flush() only
desk = lab.producer({"transactional.id": lab.topic("desk")})
desk.init_transactions()
desk.begin_transaction()
for basket in baskets():
    try:
        payment = basket.pay()
    except CardRefusedError:
        continue
    for topic, text in ((orders, basket.order()), (payments, payment), (audit, basket.entry())):
        desk.produce(topic, text)
    desk.flush()

# %% tags=["wrong"]
# one transaction for all, taken back at the first refusal | everything was aborted
desk = lab.producer({"transactional.id": lab.topic("desk")})
desk.init_transactions()
desk.begin_transaction()
try:
    for basket in baskets():
        desk.produce(orders, basket.order())
        desk.produce(payments, basket.pay())
        desk.produce(audit, basket.entry())
    desk.commit_transaction()
except CardRefusedError:
    desk.abort_transaction()

# %% tags=["wrong"]
# ends at the first refusal | what is done after a refused basket
desk = lab.producer({"transactional.id": lab.topic("desk")})
desk.init_transactions()
try:
    for basket in baskets():
        desk.begin_transaction()
        desk.produce(orders, basket.order())
        desk.produce(payments, basket.pay())
        desk.produce(audit, basket.entry())
        desk.commit_transaction()
except CardRefusedError:
    desk.abort_transaction()

# %% tags=["wrong", "raises-exception"]
# forgets init_transactions | ended in an error
desk = lab.producer({"transactional.id": lab.topic("desk")})
for basket in baskets():
    desk.begin_transaction()
    desk.produce(orders, basket.order())
    desk.commit_transaction()

# %% tags=["right"]
# asks the bank first, and one transaction for all that are paid
from confluent_kafka import Producer

desk = Producer({"bootstrap.servers": lab.bootstrap, "transactional.id": lab.topic("another-desk")})
desk.init_transactions()
desk.begin_transaction()
for basket in baskets():
    try:
        payment = basket.pay()
    except CardRefusedError:
        continue
    desk.produce(audit, basket.entry())
    desk.produce(payments, payment)
    desk.produce(orders, basket.order())
desk.commit_transaction()

# %% tags=["right"]
# a transaction is begun only when it is known that the basket is paid
desk = lab.producer({"transactional.id": lab.topic("desk"), "linger.ms": 0})
desk.init_transactions(10)
for basket in baskets():
    try:
        texts = basket.order(), basket.pay(), basket.entry()
    except CardRefusedError:
        continue
    desk.begin_transaction()
    for topic, text in zip((orders, payments, audit), texts, strict=True):
        desk.produce(topic, text)
        desk.flush()
    desk.commit_transaction()

# %% tags=["nbval-check-output"]
lab.check.all_or_none(orders, payments, audit, desk)

# %% [markdown]
# ## What ends a transaction?
#
# The author writes two drafts more, and commits. Here is what stands in the log of `drafts`, from the file of its leader: a row for each batch.

# %%
from threebrokers.lab.scenarios import in_the_log

author.begin_transaction()
for number in (3, 4):
    author.produce(drafts, f"draft {number}")
author.commit_transaction()
in_the_log(lab, drafts)

# %% [markdown] covers="B122 E132" explains="mark, transaction coordinator, __transaction_state"
# Each transaction ends with a **mark** in each of its partitions: a control record, which takes an offset and which no program gets. So the log ends at 7, a reader of committed records gets two, and nothing was lost.
#
# And who writes the marks? One broker is the **transaction coordinator** of this `transactional.id`. It first writes its decision into the topic `__transaction_state`, and then the marks.

# %% [markdown]
# ## One transaction stays open
#
# The author begins again, writes one record into another topic, and takes a break. Meanwhile a program *without* transactions writes five records to the same partition. All are acknowledged.

# %%
guess_11b = lab.predict("11.b")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_11b.choose("0")
# END SOLUTION

# %%
from threebrokers.kafka.log_reader import read_log
from threebrokers.lab.scenarios import partition_of

half_open = lab.fresh_topic("half-open", replication_factor=3)
author.begin_transaction()
author.produce(half_open, "begun")
author.flush()
plain = lab.producer()
for number in range(5):
    plain.produce(half_open, f"plain {number}")
plain.flush()
guess_11b.compare(str(len(read_log(lab.bootstrap, half_open))))

place = partition_of(lab, half_open)
print("high watermark:", place.high_watermark, "· last stable offset:", place.last_stable_offset)
author.commit_transaction()
later = lab.wait_until(lambda: read_log(lab.bootstrap, half_open), what="the end of the transaction")
print("after the commit:", [record.value.decode() for record in later])

# %% [markdown] covers="E125" explains="last stable offset (LSO), transaction.timeout.ms, transaction.max.timeout.ms"
# A reader of committed records stops at the **last stable offset (LSO)**: where the oldest open transaction of the partition begins. It may not pass it, because it gets a partition in order, and this record is not decided yet. So one slow producer holds up all readers of committed records in its partitions, and also the records of producers that know nothing of transactions.
#
# What if it never comes back? A transaction that is open for longer than its producer's `transaction.timeout.ms` is aborted by the coordinator. The default is 60 s; brokers allow 15 minutes at most (`transaction.max.timeout.ms`).

# %% [markdown]
# ### Exercise 11.2: Let the readers go on
#
# Three vans write transactions into the topic `deliveries`, and people who phone write plain records. Nobody gets a phoned record any more: one of the vans hangs, and may do so for 15 minutes. Partition `stuck.held` is where they wait.
#
# End that transaction, and set `culprit` to the `transactional.id` of the van. Another van has a transaction open, too. It is at work; leave it alone.
#
# Kafka's tool for this is `kafka-transactions`. `list` shows what the coordinators know, `describe-producers` who writes into one partition; `abort` and `forceTerminateTransaction` end something. (`find-hanging` names only transactions that no coordinator knows; both open ones here are known.) A command that lacks an option says which one. `asked` returns the table of a command, a dictionary for each row:

# %%
from threebrokers.lab.scenarios import stuck_readers

stuck = stuck_readers(lab)


def asked(*words):
    head, *lines = lab.cluster.tool("kafka-transactions", *words).splitlines()
    return [dict(zip(head.split(), line.split(), strict=False)) for line in lines]


# TODO: find the van that hangs, set `culprit`, and end its transaction
# BEGIN SOLUTION
there = asked("describe-producers", "--topic", stuck.topic, "--partition", str(stuck.held))
hangs = next(row for row in there if row["CurrentTransactionStartOffset"] != "None")
known = {row["ProducerId"]: row["TransactionalId"] for row in asked("list")}
culprit = known[hangs["ProducerId"]]
_ = lab.cluster.tool("kafka-transactions", "forceTerminateTransaction", "--transactionalId", culprit)
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Which command tells who writes into *one partition*, and where an open transaction of it begins? It knows producers by a number. Which other command knows number and name?
#
# </details>
# <details><summary>Another hint</summary>
#
# `describe-producers --topic … --partition …`, then `list`. `forceTerminateTransaction` takes `--transactionalId`, `abort` the place and `--start-offset`. A producer that starts with the same `transactional.id` ends it, too.
#
# </details>

# %% tags=["wrong"]
# knows it, and does nothing | it is, and its transaction goes on
culprit = stuck.culprit

# %% tags=["wrong"]
# reads everything instead | still wait at offset
print(len(read_log(lab.bootstrap, stuck.topic, isolation="read_uncommitted")))
culprit = "van"

# %% tags=["wrong"]
# ends the one that is at work | was only at work; and
culprit = stuck.innocent
lab.producer({"transactional.id": culprit}).init_transactions()

# %% tags=["wrong"]
# ends everything that is open | both open transactions are over
for row in asked("list"):
    if row["TransactionState"] == "Ongoing":
        culprit = row["TransactionalId"]
        lab.producer({"transactional.id": culprit}).init_transactions()

# %% tags=["wrong"]
# gives the producer's number | is the number that the brokers gave
there = asked("describe-producers", "--topic", stuck.topic, "--partition", str(stuck.held))
culprit = next(row for row in there if row["CurrentTransactionStartOffset"] != "None")["ProducerId"]
lab.producer({"transactional.id": stuck.culprit}).init_transactions()

# %% tags=["wrong"]
# takes the van that has ended | has ended all of its transactions
lab.producer({"transactional.id": stuck.culprit}).init_transactions()
culprit = stuck.ended

# %% tags=["right"]
# starts a producer of the same name, which takes back what the other one has left
there = asked("describe-producers", "--topic", stuck.topic, "--partition", str(stuck.held))
number = next(row["ProducerId"] for row in there if row["CurrentTransactionStartOffset"] != "None")
culprit = next(row["TransactionalId"] for row in asked("list") if row["ProducerId"] == number)
lab.producer({"transactional.id": culprit}).init_transactions()

# %% tags=["right"]
# by the place where it begins, without its name
place = ["--topic", stuck.topic, "--partition", str(stuck.held)]
row = next(r for r in asked("describe-producers", *place) if r["CurrentTransactionStartOffset"] != "None")
start = row["CurrentTransactionStartOffset"]
lab.cluster.tool("kafka-transactions", "abort", *place, "--start-offset", start)
culprit = next(r["TransactionalId"] for r in asked("list") if r["ProducerId"] == row["ProducerId"])

# %% tags=["nbval-check-output"]
lab.check.readers_go_on(stuck, culprit)

# %% [markdown] covers="A038 A018 E121" explains="consume-transform-produce"
# ## Read, work, write
#
# Most transactions begin with a record that was *read*: **consume-transform-produce**. A bank has a topic of transfers. Its worker reads one, and writes two entries into another topic: -12 euros for Ann, +12 euros for Bob. So the sum of all accounts is always 0. It also sends an e-mail to the customer.
#
# The worker is killed in ten places, and each time a new one goes on. `Transfers` is a helper of this course: `bank.split(message)` gives the two entries. This worker knows two ways:

# %%
# %%program clerk
from threebrokers.lab.transfers import Transfers

bank = Transfers(lab)
safe = bank.way == "with transactions"
consumer = bank.consumer({"enable.auto.commit": False})
producer = bank.producer({"transactional.id": lab.topic("clerk")} if safe else {})
consumer.subscribe([bank.transfers])
if safe:
    producer.init_transactions()
while True:
    for message in consumer.consume(1, timeout=0.2):
        if safe:
            producer.begin_transaction()
        for account, entry in bank.split(message):
            producer.produce(bank.entries, entry, key=account)
        bank.mail(message)
        producer.commit_transaction() if safe else producer.flush()
        consumer.commit(message=message, asynchronous=False)

# %%
guess_11c = lab.predict("11.c")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_11c.choose("some transfers twice, none in part")
# END SOLUTION

# %%
from threebrokers.lab.scenarios import compared_books, killed_in_ten_places

WAYS = ("without transactions", "with transactions")
books = {way: killed_in_ten_places(lab, "clerk", way=way) for way in WAYS}
compared_books(books)

# %%
loose, tied = books.values()
lab.observed("Without transactions money was gone, or came from nowhere", loose.uneven and loose.euros)
outcome = {(False, False): "each transfer once", (True, False): "some transfers twice, none in part"}
missed = "some transfers are missing" if tied.missing else "some transfers in part"
guess_11c.compare(outcome.get((bool(tied.twice), bool(tied.uneven or tied.missing)), missed))

# %% [markdown] covers="E122" explains="send_offsets_to_transaction"
# Without transactions money is gone, or came from nowhere. With them the sum is right, and a transfer was done again: its transaction was committed, and then the worker died before it committed the offset.
#
# But an offset is a record, too: in `__consumer_offsets`. So it can be in the *same* transaction: `send_offsets_to_transaction(offsets, group_metadata)` of the producer. `offsets` is a list of `TopicPartition(topic, partition, offset)`, and the second argument is what `consumer.consumer_group_metadata()` returns. The consumer itself commits nothing then. It must read with `read_committed`, the default here: else it works on what is taken back later.

# %% [markdown]
# ### Exercise 11.3: Each transfer once
#
# Write the worker: after ten kills each transfer has its two entries, once, and nobody waits for a transaction of a dead worker. You need not send mails. When you have run your program's cell, the next cell kills it, and stops if the books are wrong.

# %%
# %%program teller
from confluent_kafka import TopicPartition

from threebrokers.lab.transfers import Transfers

bank = Transfers(lab)
# TODO: make consumer and producer; read, write entries and offset in one transaction, without an end
# BEGIN SOLUTION
consumer = bank.consumer({"enable.auto.commit": False})
producer = bank.producer({"transactional.id": lab.topic("teller")})
consumer.subscribe([bank.transfers])
producer.init_transactions()
while True:
    for message in consumer.consume(1, timeout=0.2):
        producer.begin_transaction()
        for account, entry in bank.split(message):
            producer.produce(bank.entries, entry, key=account)
        after = [TopicPartition(bank.transfers, message.partition(), message.offset() + 1)]
        producer.send_offsets_to_transaction(after, consumer.consumer_group_metadata())
        producer.commit_transaction()
# END SOLUTION

# %%
runs = killed_in_ten_places(lab, "teller", until_wrong=True)
runs

# %% [markdown]
# <details><summary>Hint</summary>
#
# Begin with the worker above. Which of its lines tells the brokers that a transfer is done, and which transaction should that line be in?
#
# </details>
# <details><summary>Another hint</summary>
#
# A committed offset is that of the *next* record. The name of the producer is what tells the coordinator that a new worker follows a dead one: is it the same at each start?
#
# </details>

# %% tags=["wrong"]
# leaves the offset outside | was committed, and its offset was not yet
consumer = bank.consumer({"enable.auto.commit": False})
producer = bank.producer({"transactional.id": lab.topic("teller")})
consumer.subscribe([bank.transfers])
producer.init_transactions()
while True:
    for message in consumer.consume(1, timeout=0.2):
        producer.begin_transaction()
        for account, entry in bank.split(message):
            producer.produce(bank.entries, entry, key=account)
        producer.commit_transaction()
        consumer.commit(message=message, asynchronous=False)

# %% tags=["wrong"]
# commits the offset first | had told the brokers that they were done
consumer = bank.consumer({"enable.auto.commit": False})
producer = bank.producer({"transactional.id": lab.topic("teller")})
consumer.subscribe([bank.transfers])
producer.init_transactions()
while True:
    for message in consumer.consume(1, timeout=0.2):
        producer.begin_transaction()
        for account, entry in bank.split(message):
            producer.produce(bank.entries, entry, key=account)
        consumer.commit(message=message, asynchronous=False)
        producer.commit_transaction()

# %% tags=["wrong"]
# lets the client commit as well | commits by itself, in the background
consumer = bank.consumer()
producer = bank.producer({"transactional.id": lab.topic("teller")})
consumer.subscribe([bank.transfers])
producer.init_transactions()
while True:
    for message in consumer.consume(1, timeout=0.2):
        producer.begin_transaction()
        for account, entry in bank.split(message):
            producer.produce(bank.entries, entry, key=account)
        after = [TopicPartition(bank.transfers, message.partition(), message.offset() + 1)]
        producer.send_offsets_to_transaction(after, consumer.consumer_group_metadata())
        producer.commit_transaction()

# %% tags=["wrong"]
# another name at each start | each start should come with the same one
import os

consumer = bank.consumer({"enable.auto.commit": False})
producer = bank.producer({"transactional.id": f"teller-{os.getpid()}"})
consumer.subscribe([bank.transfers])
producer.init_transactions()
while True:
    for message in consumer.consume(1, timeout=0.2):
        producer.begin_transaction()
        for account, entry in bank.split(message):
            producer.produce(bank.entries, entry, key=account)
        after = [TopicPartition(bank.transfers, message.partition(), message.offset() + 1)]
        producer.send_offsets_to_transaction(after, consumer.consumer_group_metadata())
        producer.commit_transaction()

# %% tags=["wrong"]
# no transaction | all of them should be in one transaction
consumer = bank.consumer({"enable.auto.commit": False})
producer = bank.producer()
consumer.subscribe([bank.transfers])
while True:
    for message in consumer.consume(1, timeout=0.2):
        for account, entry in bank.split(message):
            producer.produce(bank.entries, entry, key=account)
        producer.flush()
        consumer.commit(message=message, asynchronous=False)

# %% tags=["wrong"]
# the offset that was read | a committed offset is the next one
consumer = bank.consumer({"enable.auto.commit": False})
producer = bank.producer({"transactional.id": lab.topic("teller")})
consumer.subscribe([bank.transfers])
producer.init_transactions()
while True:
    for message in consumer.consume(1, timeout=0.2):
        producer.begin_transaction()
        for account, entry in bank.split(message):
            producer.produce(bank.entries, entry, key=account)
        read = [TopicPartition(bank.transfers, message.partition(), message.offset())]
        producer.send_offsets_to_transaction(read, consumer.consumer_group_metadata())
        producer.commit_transaction()

# %% tags=["wrong"]
# the position after two, with one of them | was ahead of the entries in it
consumer = bank.consumer({"enable.auto.commit": False})
producer = bank.producer({"transactional.id": lab.topic("teller")})
consumer.subscribe([bank.transfers])
producer.init_transactions()
while True:
    for message in consumer.consume(10, timeout=0.2):
        producer.begin_transaction()
        for account, entry in bank.split(message):
            producer.produce(bank.entries, entry, key=account)
        after = consumer.position(consumer.assignment())
        producer.send_offsets_to_transaction(after, consumer.consumer_group_metadata())
        producer.commit_transaction()

# %% tags=["wrong"]
# flushes, and never commits | ended in an error
consumer = bank.consumer({"enable.auto.commit": False})
producer = bank.producer({"transactional.id": lab.topic("teller")})
consumer.subscribe([bank.transfers])
producer.init_transactions()
while True:
    for message in consumer.consume(1, timeout=0.2):
        producer.begin_transaction()
        for account, entry in bank.split(message):
            producer.produce(bank.entries, entry, key=account)
        producer.flush()

# %% tags=["wrong"]
# ends when nothing has come for a moment | the program ended by itself
consumer = bank.consumer({"enable.auto.commit": False})
producer = bank.producer({"transactional.id": lab.topic("teller")})
consumer.subscribe([bank.transfers])
producer.init_transactions()
while messages := consumer.consume(10, timeout=0.001):
    producer.begin_transaction()
    for message in messages:
        for account, entry in bank.split(message):
            producer.produce(bank.entries, entry, key=account)
    after = consumer.position(consumer.assignment())
    producer.send_offsets_to_transaction(after, consumer.consumer_group_metadata())
    producer.commit_transaction()

# %% tags=["wrong"]
# forgets to subscribe | has not got one transfer
consumer = bank.consumer({"enable.auto.commit": False})
producer = bank.producer({"transactional.id": lab.topic("teller")})
producer.init_transactions()
while True:
    for _message in consumer.consume(1, timeout=0.2):
        producer.begin_transaction()

# %% tags=["right"]
# several transfers in one transaction
consumer = bank.consumer({"enable.auto.commit": False})
producer = bank.producer({"transactional.id": lab.topic("teller")})
producer.init_transactions()
consumer.subscribe([bank.transfers])
while True:
    messages = consumer.consume(10, timeout=0.1)
    if not messages:
        continue
    producer.begin_transaction()
    for message in messages:
        for account, entry in bank.split(message):
            producer.produce(bank.entries, value=entry, key=account)
    after = consumer.position(consumer.assignment())
    producer.send_offsets_to_transaction(after, consumer.consumer_group_metadata())
    producer.commit_transaction()

# %% tags=["right"]
# gathers five, or what has come until nothing comes for half a second
consumer = bank.consumer({"enable.auto.commit": False})
producer = bank.producer({"transactional.id": lab.topic("teller")})
consumer.subscribe([bank.transfers])
producer.init_transactions()
batch = []
while True:
    message = consumer.poll(0.5)
    if message is not None and not message.error():
        batch.append(message)
    if len(batch) == 5 or (batch and message is None):
        producer.begin_transaction()
        for one in batch:
            for account, entry in bank.split(one):
                producer.produce(bank.entries, entry, key=account)
        after = consumer.position(consumer.assignment())
        producer.send_offsets_to_transaction(after, consumer.consumer_group_metadata())
        producer.commit_transaction()
        batch = []

# %% tags=["right"]
# the offset first, one poll at a time
consumer = bank.consumer({"enable.auto.commit": "false"})
producer = bank.producer({"transactional.id": lab.topic("one-teller"), "linger.ms": 0})
consumer.subscribe([bank.transfers])
producer.init_transactions(30)
while True:
    message = consumer.poll(0.5)
    if message is None:
        continue
    producer.begin_transaction()
    after = [TopicPartition(message.topic(), message.partition(), message.offset() + 1)]
    producer.send_offsets_to_transaction(after, consumer.consumer_group_metadata(), 30)
    for account, entry in bank.split(message):
        producer.produce(bank.entries, entry, account)
    producer.commit_transaction(30)

# %% tags=["nbval-check-output"]
lab.check.each_once(runs)

# %% [markdown]
# That is what Kafka calls **exactly once**: the worker may do its work many times, and its result is there once.
#
# Look at the column *mails* above, though: with transactions there are more of them than the 18 transfers. An abort takes back records, and no e-mail. So a transaction covers input, output and offset in *one* Kafka cluster. A database takes the offset into its own transaction (lab 06). For all else, give each request a number by which the other side knows it again.

# %% [markdown] covers="E128" explains="zombie"
# ## Two with one name
#
# Worker A hangs in the middle of a transaction. Nobody knows whether it is dead, so B is started in its place, with the same `transactional.id`. Then A wakes up. It is a **zombie**: it believes that it is at work.

# %%
from confluent_kafka import KafkaException

till = lab.fresh_topic("till", replication_factor=3)
a, b = (lab.producer({"transactional.id": lab.topic("till"), "linger.ms": 0}) for _ in "ab")
a.init_transactions()
a.begin_transaction()
a.produce(till, "from A")
a.flush()  # A's record is acknowledged; now A hangs
b.init_transactions()
b.begin_transaction()
b.produce(till, "from B")
b.commit_transaction()
try:
    a.commit_transaction()
except KafkaException as fault:
    print("A gets", fault.args[0].name(), "· fatal:", fault.args[0].fatal())
in_the_log(lab, till)

# %% [markdown] covers="B121" explains="producer epoch"
# When B called `init_transactions()`, the coordinator aborted what A had left open, at once, and gave B a higher **producer epoch**. Brokers refuse everything that comes with a lower one: A is *fenced*. (The mark of the abort has a higher epoch already, and B gets the next one.) So each worker has a name of its own, the same at each start.
#
# An error in a transaction tells by itself what is to be done. `error = fault.args[0]` of a `KafkaException`:
#
# | | it means |
# |---|---|
# | `error.retriable()` | nothing is wrong yet; the same call may be made again |
# | `error.txn_requires_abort()` | this transaction cannot be committed any more; the producer can go on after an abort (with this client, after a refused record, sometimes after a second one) |
# | `error.fatal()` | this producer can do nothing more |
#
# What `produce()` itself raises, for a record that is too large or when the queue is full (lab 05), is none of the three. The transaction stays open, and readers wait, until your program ends it.

# %% [markdown]
# ### Exercise 11.4: What to do with an error
#
# A colleague's function writes rows, each a topic and a text, in one transaction. `begin_with` leaves none open if `produce()` raises an error. `tried_in_five_cases` calls it with a real producer in five cases:

# %%
from threebrokers.lab.scenarios import tried_in_five_cases


def begin_with(producer, rows):
    producer.begin_transaction()
    try:
        for topic, text in rows:
            producer.produce(topic, text)
    except (KafkaException, BufferError):
        producer.abort_transaction(10)
        raise


def hopeful(producer, rows):
    while True:
        try:
            begin_with(producer, rows)
            producer.commit_transaction(10)
            return "booked"
        except KafkaException:
            producer.abort_transaction()


tried_in_five_cases(lab, hopeful)

# %% [markdown]
# Write `book(producer, rows)`. It returns `"booked"` if readers get the rows, and `"aborted"` if the brokers refuse one and they are taken back. If the producer can do nothing more, the error reaches the caller. Whatever happens, it ends, and no row is there twice.


# %%
# TODO: write book(producer, rows), which begins with begin_with(producer, rows)
# BEGIN SOLUTION
def book(producer, rows):
    begin_with(producer, rows)
    while True:
        try:
            producer.commit_transaction(10)
            return "booked"
        except KafkaException as fault:
            if fault.args[0].txn_requires_abort():
                producer.abort_transaction(10)
                return "aborted"
            if not fault.args[0].retriable():
                raise


# END SOLUTION
tried = tried_in_five_cases(lab, book)
tried

# %% [markdown]
# <details><summary>Hint</summary>
#
# Which of the colleague's lines in `try` may be done again when an answer was only late? Where should the loop begin?
#
# </details>
# <details><summary>Another hint</summary>
#
# The loop holds `commit_transaction` alone. In `except`, the three questions of the table lead to three ends: around the loop again, `return` after an abort, `raise`.
#
# </details>


# %% tags=["wrong"]
# leaves it as it is | your function tries again for ever: the brokers
def book(producer, rows):
    while True:
        try:
            begin_with(producer, rows)
            producer.commit_transaction(10)
            return "booked"
        except KafkaException:
            producer.abort_transaction()


# %% tags=["wrong"]
# catches all | as if it could go on
def book(producer, rows):
    try:
        producer.begin_transaction()
        for topic, text in rows:
            producer.produce(topic, text)
        producer.commit_transaction(10)
        return "booked"
    except Exception:
        try:
            producer.abort_transaction(10)
        except Exception as fault:
            print(fault)
        return "aborted"


# %% tags=["wrong"]
# retries a producer that is fenced | this error never goes away
def book(producer, rows):
    begin_with(producer, rows)
    while True:
        try:
            producer.commit_transaction(10)
            return "booked"
        except KafkaException as fault:
            if fault.args[0].txn_requires_abort():
                producer.abort_transaction(10)
                return "aborted"


# %% tags=["wrong"]
# looks for errors of the commit alone | that was begun is still open
def book(producer, rows):
    producer.begin_transaction()
    for topic, text in rows:
        producer.produce(topic, text)
    while True:
        try:
            producer.commit_transaction(10)
            return "booked"
        except KafkaException as fault:
            if fault.args[0].txn_requires_abort():
                producer.abort_transaction(10)
                return "aborted"
            if not fault.args[0].retriable():
                raise


# %% tags=["wrong"]
# raises everything | and the program ends
def book(producer, rows):
    producer.begin_transaction()
    for topic, text in rows:
        producer.produce(topic, text)
    producer.commit_transaction(10)
    return "booked"


# %% tags=["wrong"]
# gives up when an answer is late | nothing is wrong yet, only its time was over
def book(producer, rows):
    producer.begin_transaction()
    for topic, text in rows:
        producer.produce(topic, text)
    try:
        producer.commit_transaction(10)
        return "booked"
    except KafkaException as fault:
        if fault.args[0].txn_requires_abort():
            producer.abort_transaction(10)
            return "aborted"
        raise


# %% tags=["wrong"]
# says nothing when it is done | your function returns None
def book(producer, rows):
    producer.begin_transaction()
    for topic, text in rows:
        producer.produce(topic, text)
    producer.commit_transaction(10)


# %% tags=["wrong"]
# gives up without an abort | cannot begin another transaction
def book(producer, rows):
    begin_with(producer, rows)
    while True:
        try:
            producer.commit_transaction(10)
            return "booked"
        except KafkaException as fault:
            if fault.args[0].txn_requires_abort():
                return "aborted"
            if not fault.args[0].retriable():
                raise


# %% tags=["right"]
# a bounded number of tries, the worst first
def book(producer, rows):
    producer.begin_transaction()
    try:
        for topic, text in rows:
            producer.produce(topic, text)
        for last in (False, False, True):
            try:
                producer.commit_transaction()
                return "booked"
            except KafkaException as fault:
                if last or not fault.args[0].retriable():
                    raise
    except KafkaException as fault:
        if fault.args[0].fatal():
            raise SystemError("somebody else does this work now") from fault
        producer.abort_transaction()
    return "aborted"


# %% tags=["nbval-check-output"]
lab.check.right_thing_done(book, tried)

# %% [markdown]
# ## After an abort, go back
#
# An abort takes back records and the offset. It does not take back the *consumer*: its position is after the transfer that was read. The loop of exercise 11.3 gets five transfers, 0 to 4, and the transaction of transfer 1 is aborted:

# %%
from threebrokers.lab.scenarios import after_one_abort


def goes_back(consumer):
    for place in consumer.committed(consumer.assignment(), timeout=10):
        consumer.seek(place)


found = after_one_abort(lab, goes_back)
lab.observed("Who went on has lost a transfer, who went back none", list(found["missing"]) == [1, 0])
found

# %% [markdown]
# Who only goes on loses a transfer, without any error. So `seek` to the committed offset, or end the program: its successor begins there. (A group that has committed nothing yet has no such offset. Then this function begins where `auto.offset.reset` says: at the first transfer with `earliest`, as here, but after the last one with `latest`, the default.)

# %% [markdown] explains="transactional.id.expiration.ms"
# ## Here and in production
#
# | | here | default |
# |---|---|---|
# | partitions of `__transaction_state` (`transaction.state.log.num.partitions`) | 3 | 50 |
# | coordinators look for what is open too long each | 1 s | 10 s |
# | an unused name is forgotten after (`transactional.id.expiration.ms`) | 7 days | 7 days |
#
# A dead worker's successor follows here at once, by its `group.instance.id`; otherwise its partitions wait for the session's end, 45 s.

# %% [markdown]
# ## What to remember
#
# - A transaction makes writes atomic: records of many partitions, and the offset of what was read. Only readers with `read_committed` see it so, and wait at the oldest open one. After an abort, the consumer goes back.
# - One name for one worker, the same at each start: so a successor ends what a dead one left open, and a zombie is fenced.
# - What is not a record of the same cluster, an e-mail or a row, is not in it.

# %% [markdown]
# ## Quiz
#
# Each answer is explained when you have chosen it. The first one is kept with your progress, on this machine.

# %%
lab.quiz()

# %% [markdown]
# ## Going further
#
# What follows is not needed for the next lab. Each section stands by itself, after the set-up cell.
#
# ### Where the decision stands
#
# The transaction coordinator notes every step in a topic, `__transaction_state`. These are the steps of one transaction:

# %%
from threebrokers.lab.scenarios import written_by_coordinator

decided, deciding = lab.fresh_topic("decided", replication_factor=3), lab.topic("deciding")
decider = lab.producer({"transactional.id": deciding})
decider.init_transactions()
decider.begin_transaction()
decider.produce(decided, "all of it")
decider.commit_transaction()
written_by_coordinator(lab, deciding)

# %% [markdown] covers="E131 B118" explains="two-phase commit"
# - *Ongoing*: a partition is written down before its first record is stored.
# - *PrepareCommit*: this line is the decision. From here on nothing can turn it into an abort, also if every client and the coordinator itself die: the next coordinator reads its topic and goes on.
# - *CompleteCommit*: the marks stand in all partitions.
#
# Such a protocol is called **two-phase commit**.

# %% [markdown]
# ### Who ends it if nobody does?
#
# A producer with a timeout of 2 s begins a transaction, and never comes back:

# %%
from time import perf_counter

from threebrokers.lab.scenarios import broker_settings, partition_of

left = lab.fresh_topic("left-open", replication_factor=3)
leaver = lab.producer({"transactional.id": lab.topic("leaver"), "transaction.timeout.ms": 2000})
leaver.init_transactions()
leaver.begin_transaction()
leaver.produce(left, "never to be decided")
leaver.flush()
began = perf_counter()
lab.wait_until(lambda: partition_of(lab, left).last_stable_offset == 2, what="its end", within=30)
print(f"ended after {perf_counter() - began:.1f} s")
looks = "transaction.abort.timed.out.transaction.cleanup.interval.ms"
broker_settings(lab, ["transaction.max.timeout.ms", looks])

# %% [markdown] covers="E126"
# The coordinator has aborted it. It looks for such transactions every 10 s, here every second, so it takes between 2 s and a little more than 3. The timeout is the producer's own (60 s unless told). 15 minutes is only the most that brokers allow.

# %% [markdown] covers="E133"
# ### What does it cost?
#
# The same small records, in transactions of 1, 10, 100 and 1000, one transaction after the other:

# %%
guess_11d = lab.predict("11.d")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_11d.choose("a hundred times as many or more")
# END SOLUTION

# %%
from threebrokers.lab.scenarios import bar_chart, costs_by_size, line_chart, readable_after

costs = costs_by_size(lab, [1, 10, 100, 1000])
speeds = {f"{size} in a transaction": speed for size, speed in costs["records a second"].items()}
bar_chart(speeds, "Small records written by one Python producer", "records a second", log=True)
costs

# %%
ratio = speeds["1000 in a transaction"] / speeds["1 in a transaction"]
most = "a hundred times as many or more" if ratio >= 60 else "ten times as many"
guess_11d.compare(most if ratio > 3 else "about as many")

# %% [markdown] covers="E127"
# A transaction has a price of its own: telling the coordinator of each partition, the decision, a mark in each partition. A record more in it costs almost nothing.
#
# A part of it is a pause. While the marks of the last transaction are being written, the coordinator refuses the next one (CONCURRENT_TRANSACTIONS), and this client asks again every 20 ms, whatever `retry.backoff.ms` says. So these are numbers of a Python producer; another client has others.
#
# So large transactions are cheap, and what they cost instead is time: nobody reads a record before its transaction has ended. Here 200 records a second come in, and a commit comes every 10, 100 or 1000 ms:

# %%
waits = readable_after(lab, [10, 100, 1000])
line_chart(waits, "How long a record waits for its reader", "ms")
waits

# %% [markdown]
# Look at the slowest: it waits as long as its transaction is open, and for the commit besides. So a commit every 10 ms gains little; and on a machine where a transaction takes longer than that, records queue, and wait even longer. Kafka Streams commits every 100 ms when it works exactly once, and every 30 s otherwise.

# %% [markdown] covers="E132"
# ### Exercise 11.5: Find the gaps
#
# In the topic `gapped` some transactions were committed and some aborted. Set `counts`, a dictionary of three numbers: `records` that a reader of committed records gets, `aborted` records that stand in the log and that this reader does not get, and `marks`. A colleague says that records were lost. Do the three add up to the end of the log?

# %%
from threebrokers.kafka.log_reader import read_log
from threebrokers.lab.scenarios import gapped, in_the_log

gapped_topic = gapped(lab)
# TODO: set `counts`, with "records", "aborted" and "marks"
# BEGIN SOLUTION
committed = len(read_log(lab.bootstrap, gapped_topic))
stored = len(read_log(lab.bootstrap, gapped_topic, isolation="read_uncommitted"))
marks = in_the_log(lab, gapped_topic)["what"].str.startswith("mark").sum()
counts = {"records": committed, "aborted": stored - committed, "marks": int(marks)}
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Which of the three does no reader get, at either isolation level? Where have you seen it?
#
# </details>
# <details><summary>Another hint</summary>
#
# `read_log(lab.bootstrap, topic, isolation=…)` reads at either level; `in_the_log(lab, topic)` is a table of all batches, marks among them.
#
# </details>

# %% tags=["wrong"]
# takes offsets for records | the end of the log; it should
end = in_the_log(lab, gapped_topic)["offsets"].iloc[-1]
counts = {"records": int(end) + 1, "aborted": 0, "marks": 0}

# %% tags=["wrong"]
# reads what was taken back | everything that a producer has sent
stored = len(read_log(lab.bootstrap, gapped_topic, isolation="read_uncommitted"))
marks = in_the_log(lab, gapped_topic)["what"].str.startswith("mark").sum()
counts = {"records": stored, "aborted": 0, "marks": int(marks)}

# %% tags=["wrong"]
# counts the marks of commits | the marks of commits alone
committed = len(read_log(lab.bootstrap, gapped_topic))
stored = len(read_log(lab.bootstrap, gapped_topic, isolation="read_uncommitted"))
marks = in_the_log(lab, gapped_topic)["what"].str.endswith("COMMIT").sum()
counts = {"records": committed, "aborted": stored - committed, "marks": int(marks)}

# %% tags=["wrong"]
# counts transactions for records | how many transactions were aborted
rows = in_the_log(lab, gapped_topic)["what"]
aborts, marks = rows.str.endswith("ABORT").sum(), rows.str.startswith("mark").sum()
counts = {"records": len(read_log(lab.bootstrap, gapped_topic)), "aborted": int(aborts), "marks": int(marks)}

# %% tags=["wrong"]
# believes that all that is missing is marks | the whole difference between
committed = len(read_log(lab.bootstrap, gapped_topic))
end = int(in_the_log(lab, gapped_topic)["offsets"].iloc[-1]) + 1
counts = {"records": committed, "aborted": 0, "marks": end - committed}

# %% tags=["wrong"]
# counts two of three | says nothing of 'marks'
counts = {"records": len(read_log(lab.bootstrap, gapped_topic)), "aborted": 0}

# %% tags=["right"]
# from Kafka's own dump
segments = ",".join(str(path) for path in lab.cluster.segments(gapped_topic, 0))
dump = lab.cluster.tool("kafka-dump-log", "--files", segments, "--print-data-log").splitlines()
lines = [line for line in dump if line.startswith("|")]
ends = [line for line in lines if "endTxnMarker" in line]
read = read_log(lab.bootstrap, gapped_topic, isolation="read_committed")
counts = {"marks": len(ends), "records": len(read), "aborted": len(lines) - len(ends) - len(read)}

# %% tags=["nbval-check-output"]
lab.check.gaps_found(gapped_topic, counts)

# %% [markdown]
# ### Exercise 11.6: What does a transaction cover?
#
# Four programs run in a shop. Each may die at any time, and is started again. Choose for each what makes its result right, and costs no more than it must:
#
# - `"transaction"`: a transaction of Kafka.
# - `"database"`: the offset stands in the database, in the transaction that writes the rows.
# - `"number"`: each piece of work has a number, by which whoever gets it twice knows it again.
# - `"nothing"`: what comes twice does no harm.
#
# The programs:
#
# - **A** reads orders, and writes for each a record to the topic of the warehouse and one to the topic of invoices. Goods should go out once.
# - **B** reads payments, and adds them to sums in PostgreSQL.
# - **C** gets orders from browsers by HTTP, and writes each to a topic. A browser that gets no answer within 3 s sends its order again.
# - **D** reads the temperatures of the fridges each second, and shows the newest of each on a screen.

# %%
# TODO: set `choices`, a dictionary: "A", "B", "C", "D" and a word for each
# BEGIN SOLUTION
choices = {"A": "transaction", "B": "database", "C": "number", "D": "nothing"}
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Ask of each: where is its input, where is its output, and what exactly happens if it dies between two of its steps and does them again?
#
# </details>
# <details><summary>Another hint</summary>
#
# Two requests of a browser are two transactions. A sum cannot tell which payments are in it: what would tell it, and how large does that get? A screen that is written again shows the same.
#
# </details>

# %% tags=["wrong"]
# a transaction for everything | takes back its own records, and no row
choices = dict.fromkeys("ABCD", "transaction")

# %% tags=["wrong"]
# a transaction for the second request | begins a transaction of its own
choices = {"A": "transaction", "B": "database", "C": "transaction", "D": "nothing"}

# %% tags=["wrong"]
# a number for each payment in a sum | that gets a row for each payment
choices = {"A": "transaction", "B": "number", "C": "number", "D": "nothing"}

# %% tags=["wrong"]
# exactly once for a screen | nobody would see a difference
choices = {"A": "transaction", "B": "database", "C": "number", "D": "transaction"}

# %% tags=["wrong"]
# every reader looks for doubles | would have to look for what came twice
choices = {"A": "number", "B": "database", "C": "number", "D": "nothing"}

# %% tags=["wrong"]
# leaves one out | says nothing of program D
choices = {"A": "transaction", "B": "database", "C": "number"}

# %% tags=["right"]
# in capital letters, in another order
choices = {"D": "Nothing", "C": "Number", "B": "Database", "A": "Transaction"}

# %% tags=["nbval-check-output"]
lab.check.fitting_choices(choices)

# %% [markdown] covers="D172 E130"
# ### A sum that survives
#
# Old books say that a worker cannot keep a running sum and its offset together. Since Kafka 0.11 it can: the new sum is one more record, in a topic that keeps the newest record of each key, in the same transaction as the offset. A worker that starts reads the sums first. That is what **Kafka Streams** does when `processing.guarantee=exactly_once_v2` is set, for every sum and every join, and it makes the transactions for you. It is a library for Java; in Python you write the loop of exercise 11.3. Spark's sink writes to Kafka at least once.

# %% [markdown]
# ### A group that has read everything
#
# One transaction writes three records. A group in Python reads all of them, and commits after each with `commit(message=…)`. A second group does the same with Java's console consumer.

# %%
guess_11e = lab.predict("11.e")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_11e.choose("1")
# END SOLUTION

# %%
from threebrokers.lab.scenarios import partition_of

receipts = lab.fresh_topic("receipts", replication_factor=3)
cashier = lab.producer({"transactional.id": lab.topic("cashier")})
cashier.init_transactions()
cashier.begin_transaction()
for number in range(3):
    cashier.produce(receipts, f"receipt {number}")
cashier.commit_transaction()

python, java = lab.group("lagging-python"), lab.group("lagging-java")
reader = lab.consumer({"group.id": python, "auto.offset.reset": "earliest", "enable.auto.commit": False})
reader.subscribe([receipts])
for message in reader.consume(3, timeout=10):
    reader.commit(message=message, asynchronous=False)
reader.close()
tool = ["kafka-console-consumer", "--topic", receipts, "--group", java, "--from-beginning"]
tool += ["--isolation-level", "read_committed", "--timeout-ms"]
longer = (str(1000 * 2**n) for n in range(6))  # a busy machine may need more than a second
lab.wait_until(lambda: lab.cluster.tool(*tool, next(longer)), what="Java's consumer to read", within=60)
table = lab.cluster.tool("kafka-consumer-groups", "--describe", "--group", python, "--group", java)
print("\n".join(line[:90] for line in table.splitlines()))

# %%
committed = {group.name: group.committed[0][2] for group in lab.cluster.state([], [python, java]).groups}
guess_11e.compare(str(partition_of(lab, receipts).high_watermark - committed[python]))
lab.observed("Java's group has no lag", committed[java] == 4)

# %% [markdown]
# Offset 3 is the mark, and the log ends at 4. `commit(message=…)` commits the offset after the record, 3. Java's consumer commits its *position*, which has passed the mark. So an alarm "lag is not 0 for an hour" rings in Python as long as nothing more is written, and a program that reads "until the lag is 0" never ends. Read until `_PARTITION_EOF` comes instead (`enable.partition.eof`).

# %% [markdown] explains="KIP-890"
# ### Two versions of the protocol
#
# The brokers here know two versions of transactions. Kafka 4 brought the second (KIP-890): in it each transaction of a producer has a producer epoch of its own. Ten transactions in Python, and a second of short ones in Java:

# %%
guess_11f = lab.predict("11.f")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_11f.choose("1 and one for each transaction")
# END SOLUTION

# %%
from threebrokers.lab.scenarios import in_the_log

by_python, by_java = (lab.fresh_topic(topic, replication_factor=3) for topic in ("by-python", "by-java"))
writer = lab.producer({"transactional.id": lab.topic("by-python")})
writer.init_transactions()
for number in range(10):
    writer.begin_transaction()
    writer.produce(by_python, f"record {number}")
    writer.commit_transaction()
test = ["--num-records", "200", "--record-size", "10", "--throughput", "200"]
test += ["--transactional-id", lab.topic("by-java"), "--transaction-duration-ms", "100"]
lab.cluster.tool("kafka-producer-perf-test", "--topic", by_java, *test)
logs = {topic: in_the_log(lab, topic) for topic in (by_python, by_java)}
logs[by_java][logs[by_java]["what"].str.startswith("mark")].head(8)

# %%
epochs = []
for topic, log in logs.items():
    records = log[log["what"].str.contains("record")]
    epochs.append(records["epoch"].nunique())
    print(f"{topic}: transactions: {len(log) - len(records)}, epochs: {epochs[-1]}")
python_epochs, java_epochs = epochs
java_has = "1" if java_epochs == 1 else "one for each transaction"
guess_11f.compare("one for each transaction, both" if python_epochs > 1 else f"1 and {java_has}")

# %% [markdown]
# The client decides: Java's speaks the second version, and librdkafka, of which this client is made, the first (2.16). And the cluster decides, by its feature `transaction.version`. Here the same program in Java runs while it is 1, and again when it is 2:

# %%
from threebrokers.lab.scenarios import epochs_by_version

epochs_by_version(lab)

# %% [markdown]
# Why does it matter? The network may hold back a request. Here is a small client that was made for this lab, and speaks both versions. It writes two records in a transaction, and the second one is held back. The client gives up, and aborts. When its *next* transaction is open, the old request arrives at the leader.

# %%
guess_11h = lab.predict("11.h")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_11h.choose("in the first")
# END SOLUTION

# %%
from threebrokers.lab.scenarios import late_record

late = late_record(lab)
late

# %%
read = {v: "late" in late["a reader gets"][f"version {v}, in the next transaction"] for v in (1, 2)}
versions = {(False, False): "in neither", (True, False): "in the first", (True, True): "in both"}
guess_11h.compare(versions.get((read[1], read[2]), "in the second"))

# %% [markdown]
# In the first version all transactions of a producer have the same producer epoch. So an old request, a record or "commit!", looks right in the middle of a later one: half of what was taken back is committed. In the second version it comes with an old epoch and is refused. Also, the client need not tell the coordinator of each partition first; the leader does it.
#
# The row in the middle is how brokers of Kafka 4 protect older clients: a leader asks the coordinator whether a transaction is really open before it takes its first record. `TRANSACTION_ABORTABLE` says that it is not. (A client that asks with an older version of the request is told `INVALID_TXN_STATE`.)
#
# ### Two names, one partition
#
# In *Two with one name* a zombie was fenced by its name. Here A and B are two members of a group, and each has a `transactional.id` of its own. A hangs in the middle of a transaction for longer than `max.poll.interval.ms`, so the group gives its partition to B, which does the same record. Then A wakes up, and commits. A's transaction may last 5 s.
#
# Twice: in the first row A hangs before it has sent its offset, in the second one after that. Both times count from the moment when A hung.

# %%
guess_11i = lab.predict("11.i")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_11i.choose("when A's transaction is over")
# END SOLUTION

# %%
import pandas as pd

from threebrokers.lab.scenarios import second_owner

hangs = {"before it": second_owner(lab, sent=False), "after it": second_owner(lab, sent=True)}
owners = pd.DataFrame(hangs).T.rename_axis("A hangs … sending its offset")
owners

# %%
waited = owners["B gets its first record (s)"] - owners["B has the partition (s)"]
over = "when A's transaction is over"
guess_11i.compare(over if waited["after it"] > 1 else "as soon as it has the partition")
lab.observed("Readers get the reply of B alone, both times", list(owners["readers get"]) == ["B", "B"])
lab.observed("Before it, B began much sooner", waited["before it"] < waited["after it"] / 2)

# %% [markdown] explains="KIP-447, group metadata"
# In the first row the group's coordinator refuses A's offset: with it comes the **group metadata** of A's consumer, and that one is no member any more. So nothing of A is committed. Before Kafka 2.5 (**KIP-447**) offsets came without it; only a name for each *partition* was safe, and so a producer for each.
#
# In the second row an offset of A waits in its open transaction. Is A's record done? Nobody knows yet. So the coordinator does not answer B's question where to begin (`UNSTABLE_OFFSET_COMMIT`, which the client does not show), until A's transaction has ended. B has the partition, and stands still for as long as `transaction.timeout.ms` allows, 60 s by default. Then A's commit is refused: its transaction was aborted. If B had A's name, it would have ended that transaction itself, at once.

# %% [markdown]
# ### A transaction that nobody knows
#
# What if the leaders do not ask, as it was before? Then a record that comes late, *between* two transactions, begins one of which no coordinator knows. Nobody ends it, whatever its timeout, and readers wait for ever. Here it happens again; `transaction.partition.verification.enable` is `false` meanwhile. In the same partition a producer has a transaction open that its coordinator knows.

# %%
from threebrokers.lab.scenarios import hanging_transaction, partition_of

hanging = hanging_transaction(lab)
patient = {"transaction.timeout.ms": 900_000}  # it is open until you run the next cell
known = lab.producer({"transactional.id": lab.topic("known"), "linger.ms": 0, **patient})
known.init_transactions()
known.begin_transaction()
known.produce(hanging, "of a transaction that is known")
known.flush()
searched = ["find-hanging", "--topic", hanging, "--max-transaction-timeout", "0"]
told = lab.cluster.tool("kafka-transactions", *searched)
print(told)

# %%
known.commit_transaction()
names, row = (line.split() for line in told.splitlines()[:2])
start = dict(zip(names, row, strict=False))["StartOffset"]
place = ["--topic", hanging, "--partition", "0", "--start-offset", start]
print("last stable offset:", partition_of(lab, hanging).last_stable_offset, "· it hangs from offset", start)
lab.cluster.tool("kafka-transactions", "abort", *place)
ended = lab.wait_until(lambda: partition_of(lab, hanging).last_stable_offset > int(start), what="its end")
lab.observed("The one that nobody knew was found, and ended; readers go on", ended)

# %% [markdown]
# `find-hanging` names one of the two: it compares what each partition says with what the coordinators know, and leaves out those that both know. It looks only at open transactions whose last record is older than a time that you give, in minutes (15 unless told). `abort` takes the place where it begins, because no coordinator could look it up by a name.

# %% [markdown]
# ### An old page
#
# In 2017 a page showed how transactions in Java would look:
#
# ```java
# producer.initTransaction();
# try {
#     producer.beginTransaction();
#     producer.send(debitAccountMessage);
#     producer.send(creditOtherAccountMessage);
#     producer.sentOffsetsToTxn(...);
#     producer.commitTransaction();
# } catch (ProducerFencedTransactionException pfte) {
#     producer.close();
# } catch (KafkaException ke) {
#     producer.abortTransaction();
# }
# ```
#
# Three names are not those of Kafka, and after one line something is missing: which? (Exercise 11.3 and *After an abort, go back* have all of it.)
#
# <details><summary>What is wrong</summary>
#
# It is `initTransactions`, `sendOffsetsToTransaction` and `ProducerFencedException`. The second one also needs the group's metadata, so that a worker that was thrown out of its group is refused. And after `abortTransaction()` the consumer must go back to the committed offset, or the transfer is lost.
#
# </details>

# %% [markdown] covers="E129"
# ### A leader out of reach
#
# A transaction writes a record to each of two partitions, which two brokers lead. Then the second of these brokers cannot reach the other two any more, nor they it, and the producer commits. (Only its heartbeats still come, so it stays the leader, unlike the one that was cut off in [lab 04](04_broker_failover.ipynb).)

# %%
guess_11g = lab.predict("11.g")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_11g.choose("one of the two")
# END SOLUTION

# %%
from threebrokers.kafka.log_reader import read_log
from threebrokers.lab.scenarios import coordinator_of_transactions

sender = lab.producer({"transactional.id": lab.topic("sender")})
sender.init_transactions()
needed = {coordinator_of_transactions(lab, lab.topic("sender")), lab.cluster.state([]).quorum_leader}
far = min({1, 2, 3} - needed)
near = min({1, 2, 3} - {far})
two_leaders = lab.fresh_topic("two-leaders", partitions=2, brokers=[[near], [far]])
sender.begin_transaction()
for partition in (0, 1):
    sender.produce(two_leaders, "one of two", partition=partition)
sender.flush()
lab.cluster.cut(far, "brokers")
sender.commit_transaction(30)
lab.wait_until(lambda: read_log(lab.bootstrap, two_leaders, partitions=[0]), what="the first mark")
readable = [p.last_stable_offset for p in lab.cluster.state([two_leaders]).topic(two_leaders).partitions]
lab.cluster.heal(far)
lab.cluster.recover()
both = lab.wait_until(lambda: len(read_log(lab.bootstrap, two_leaders)) == 2, what="the second mark")

# %%
print("last stable offset of partition 0 and of partition 1, after the commit:", readable)
lab.observed("When the network was mended, both records were there", both)
guess_11g.compare({2: "both records", 1: "one of the two"}.get(sum(map(bool, readable)), "neither"))

# %% [markdown]
# Both come, and not at the same moment. *All or none* is a promise about the end: a reader of two topics can see an order before its payment, mostly for milliseconds, here for as long as the network is broken. Who reads a payment must not assume that its order is there already.

# %% [markdown]
# What a reader saw of each transfer when its worker was killed in ten places, in twenty runs, with and without transactions, is in [docs/guarantees.md](../docs/guarantees.md). Compare with the [solution](../solutions/11_transactions.ipynb). Next lab: [What do the topics say?](12_spark_batch.ipynb)
