# %% [markdown]
# # What have I read?
#
# **You will** kill a program at its work and see in a ledger what it lost and what it did twice, mend it until nothing is lost, and write results and offsets into one database so that nothing comes twice either.
#
# *{minutes} minutes, and {further} more if you go further. You need lab 01: group, committed offset, `auto.offset.reset`. There are two halves, and you can pause between them.*

# %%
from threebrokers import open_lab

lab = open_lab("06")

# %% [markdown]
# Three questions from earlier labs, to see what is still there:

# %%
lab.review()

# %% [markdown] covers="A151 C032 D013 D081 D095 D072 C028 A057 B088 D071 C026" explains="position, committed offset"
# ## Two offsets
#
# A consumer knows two offsets of each partition. Its **position** is the offset of the record that it gets next. It is in the memory of the program and moves with every record. The **committed offset** is what the group has written down at the brokers. The next consumer of the group begins there.

# %%
from confluent_kafka import TopicPartition

notes = lab.fresh_topic("six-notes")
producer = lab.producer()
for number in range(6):
    producer.produce(notes, f"note {number}")
producer.flush()

settings = {"auto.offset.reset": "earliest", "enable.auto.commit": False}
reader = lab.consumer({**settings, "group.id": lab.group("readers")})
reader.subscribe([notes])
print("first poll:", reader.poll(0), reader.assignment())
messages = reader.consume(5, timeout=10)
reader.commit(message=messages[2], asynchronous=False)
place = [TopicPartition(notes, 0)]
print("the record that was committed has offset", messages[2].offset())
print("position", reader.position(place)[0].offset)
print("committed", reader.committed(place, timeout=5)[0].offset)

# %% [markdown]
# The first `poll` did not wait, and came too early. (In a loop, `poll(0)` keeps a processor busy; `poll(1)` returns as soon as a record is there.) `subscribe` only begins: in the background the client finds its group, and it takes its partitions inside `poll` or `consume`. So give these some time. The group has committed 3, after the record with offset 2: a committed offset is the *next* one to read. There is no acknowledgement for each record. Committed 3 means that 0, 1 and 2 are done.
#
# Nothing ties the two offsets together: a program may read on for hours and commit nothing.

# %% [markdown] covers="A159 D080 D082 C034 E077"
# ## First half: the program dies at its work
#
# Forty orders wait in the topic `worker-orders`. A worker reads them, and its work is to write an invoice for each. A customer who gets two invoices is angry; one who gets none does not pay.
#
# The worker is a program of its own (`%%program`), so we can kill it. `Orders` is a helper of this course that knows the topic and makes the consumer; `orders.work(message)` writes one invoice, and the ledger notes it. Five ways to commit are in it:

# %% reading="the five ways differ in the order of these lines, and in nothing else"
# %%program worker
from concurrent.futures import ThreadPoolExecutor

from threebrokers.lab.orders import Orders

orders = Orders(lab)
automatic, store = "automatic" in orders.way, orders.way == "work, then store"
consumer = orders.consumer({"enable.auto.commit": automatic or store, "enable.auto.offset.store": not store})
consumer.subscribe([orders.topic])
thread = ThreadPoolExecutor(max_workers=1)

while True:
    message = consumer.poll(1)
    if message is not None and not message.error():  # an error comes in place of a record
        if orders.way == "commit, then work":
            consumer.commit(message=message, asynchronous=False)
        if orders.way == "automatic, in a thread":
            thread.submit(orders.work, message)
        else:
            orders.work(message)
        if orders.way == "work, then commit":
            consumer.commit(message=message, asynchronous=False)
        if store:
            consumer.store_offsets(message)

# %% [markdown] explains="enable.auto.commit, group.instance.id"
# With `enable.auto.commit`, the default, the program never commits; the client does it in the background, here every 2 s.
#
# The worker is killed twice and started again. The first time it has got order 7, whose invoice takes seconds, and is killed before it is written. The second time it is killed at once after the invoice of order 13. (The helper also sets `group.instance.id`. It tells the group that it is the same worker again, so nobody waits for the dead one.)
#
# **Predict** for `automatic`, without a thread.

# %%
guess_6a = lab.predict("6.a")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_6a.choose("one is missing, some have two")
# END SOLUTION

# %%
from threebrokers.lab.scenarios import killed_twice
from threebrokers.ledger import compare

WAYS = ("commit, then work", "work, then commit", "automatic", "automatic, in a thread", "work, then store")
runs_of = {way: killed_twice(lab, "worker", way=way, commit_seconds=2) for way in WAYS}
compare({way: runs.balance for way, runs in runs_of.items()})

# %%
lost = {way: len(runs.balance.unprocessed) for way, runs in runs_of.items()}
twice = {way: len(runs.balance.processed_again) for way, runs in runs_of.items()}
first, after, automatic, in_thread, stored = WAYS
lab.observed("To commit first lost the order that was in work", lost[first] == 1, runs_of[first].course)
kept = lost[after] == 0 and twice[after] == 1
lab.observed("To commit after the work lost none, and did one twice", kept, runs_of[after].course)
lab.observed("The thread lost what it had not begun", lost[in_thread] > 20, runs_of[in_thread].course)
kept = lost[stored] == 0 < twice[stored]
lab.observed("To store after the work lost none, and did some twice", kept, runs_of[stored].course)
words = "one" if lost[automatic] else "none", "some have" if twice[automatic] else "none has"
guess_6a.compare(f"{words[0]} is missing, {words[1]} two")

# %% [markdown] covers="A160 D167 D169 D091" explains="at most once, at least once, enable.auto.offset.store"
# - **Commit, then work**: *at most once*. What was in work is gone.
# - **Work, then commit**: *at least once*. What was in work comes again.
# - **Automatic**: both. This client notes a record for the next commit when it hands it to you, not when you have done it. Its background thread commits while you work. What was done since the last commit comes again.
# - **In a thread**: `poll` goes on, so everything counts as read, whatever the thread has done.
# - **Work, then store**: *at least once*. With `enable.auto.offset.store=False` the client commits every 2 s, by the clock, what the program gave to `store_offsets(message)`. So no order waits for a commit, and up to 2 s of work comes again.
#
# Java's client commits inside `poll()` and `close()`, and only what earlier calls returned. So it loses nothing if your work is done before you call them again; with a thread it loses records, too.
#
# So nothing is lost if what you commit is never ahead of your work.

# %% [markdown] covers="C035 D083 C036"
# ### Exercise 6.1: Lose no order
#
# This worker reads ten records at a time, which is faster:
#
# ```python
# consumer = orders.consumer({"enable.auto.commit": False})
# consumer.subscribe([orders.topic])
# while True:
#     messages = consumer.consume(10, timeout=0.2)
#     if messages:
#         consumer.commit(message=messages[-1], asynchronous=False)
#     for message in messages:
#         orders.work(message)
# ```
#
# Write it so that every order has an invoice, and no order but the one in work at a kill has two. You may commit as often as you like. The next cell kills it twice as before.

# %%
# %%program careful
from confluent_kafka import TopicPartition

from threebrokers.lab.orders import Orders

orders = Orders(lab)
# TODO: make the consumer, read, work and commit, in a loop without an end
# BEGIN SOLUTION
consumer = orders.consumer({"enable.auto.commit": False})
consumer.subscribe([orders.topic])
while True:
    for message in consumer.consume(10, timeout=0.2):
        if message.error():
            continue
        orders.work(message)
        consumer.commit(message=message, asynchronous=False)
# END SOLUTION

# %%
runs = killed_twice(lab, "careful")
runs

# %% [markdown]
# <details><summary>Hint</summary>
#
# Run the cell above with the worker of the task. Which orders have no invoice? What had been committed when the worker died, and what had it done by then?
#
# </details>
# <details><summary>Another hint</summary>
#
# `commit(message=…)` commits the offset after that record. To commit an offset yourself, give `commit(offsets=[…])` a list of `TopicPartition(topic, partition, offset)`.
#
# </details>

# %% tags=["wrong"]
# leaves it as it is | commits before the work
consumer = orders.consumer({"enable.auto.commit": False})
consumer.subscribe([orders.topic])
while True:
    messages = consumer.consume(10, timeout=0.2)
    if messages:
        consumer.commit(message=messages[-1], asynchronous=False)
    for message in messages:
        orders.work(message)

# %% tags=["wrong"]
# leaves it to the client | commits by itself, in the background
consumer = orders.consumer()
consumer.subscribe([orders.topic])
while True:
    for message in consumer.consume(10, timeout=0.2):
        orders.work(message)

# %% tags=["wrong"]
# leaves it to the client, and the work to a thread | handed to a thread
from concurrent.futures import ThreadPoolExecutor

pool = ThreadPoolExecutor(max_workers=1)
consumer = orders.consumer()
consumer.subscribe([orders.topic])
while True:
    for message in consumer.consume(10, timeout=0.2):
        pool.submit(orders.work, message)

# %% tags=["wrong"]
# commits after the whole batch | were done, and not committed
consumer = orders.consumer({"enable.auto.commit": False})
consumer.subscribe([orders.topic])
while True:
    messages = consumer.consume(10, timeout=0.2)
    for message in messages:
        orders.work(message)
    if messages:
        consumer.commit(message=messages[-1], asynchronous=False)

# %% tags=["wrong"]
# commits the offset that was read | one too small
consumer = orders.consumer({"enable.auto.commit": False})
consumer.subscribe([orders.topic])
while True:
    for message in consumer.consume(10, timeout=0.2):
        orders.work(message)
        read = TopicPartition(message.topic(), message.partition(), message.offset())
        consumer.commit(offsets=[read], asynchronous=False)

# %% tags=["wrong"]
# commits one too far | one too large
consumer = orders.consumer({"enable.auto.commit": False})
consumer.subscribe([orders.topic])
while True:
    for message in consumer.consume(10, timeout=0.2):
        orders.work(message)
        later = TopicPartition(message.topic(), message.partition(), message.offset() + 2)
        consumer.commit(offsets=[later], asynchronous=False)

# %% tags=["wrong"]
# commits the position | the position is after the whole batch
consumer = orders.consumer({"enable.auto.commit": False})
consumer.subscribe([orders.topic])
while True:
    for message in consumer.consume(10, timeout=0.2):
        orders.work(message)
        consumer.commit(asynchronous=False)

# %% tags=["wrong"]
# forgets to subscribe | has not got one order
consumer = orders.consumer({"enable.auto.commit": False})
while True:
    for message in consumer.consume(10, timeout=0.2):
        orders.work(message)
        consumer.commit(message=message, asynchronous=False)

# %% tags=["wrong"]
# a text for a list | ended in an error
consumer = orders.consumer({"enable.auto.commit": False})
consumer.subscribe(orders.topic)
while True:
    for message in consumer.consume(10, timeout=0.2):
        orders.work(message)
        consumer.commit(message=message, asynchronous=False)

# %% tags=["wrong"]
# ends when nothing comes | as soon as nothing has come
consumer = orders.consumer({"enable.auto.commit": False})
consumer.subscribe([orders.topic])
message = consumer.poll(10)
while message is not None:
    orders.work(message)
    consumer.commit(message=message, asynchronous=False)
    message = consumer.poll(10)

# %% tags=["right"]
# stores the offset after the work, and commits it
consumer = orders.consumer({"enable.auto.commit": False, "enable.auto.offset.store": False})
consumer.subscribe([orders.topic])
while True:
    message = consumer.poll(0.2)
    if message is not None:
        orders.work(message)
        consumer.store_offsets(message=message)
        consumer.commit(asynchronous=False)

# %% tags=["nbval-check-output"]
lab.check.no_order_lost(runs)

# %% [markdown]
# One invoice came twice, and it always may: whoever dies between two systems, here the invoice and the commit, has told only one of them. More commits do not close that gap. Either the work can be done twice without harm, or the two become one.

# %% [markdown] covers="C042 C043 C044 D092 D161" explains="on_assign, exactly once into a database"
# ## One transaction for both
#
# Let the invoices stand in a database. Then the offset can stand there too, in a second table, and both are written in one **transaction**: after a crash both are there, or neither. The brokers' committed offset is not needed any more. That is *exactly once into a database*. When the consumer gets its partitions, it has to begin where the *database* says. `subscribe` takes a function for that:
#
# ```python
# def begin(consumer, partitions):  # called inside poll(), when the partitions are given
#     for place in partitions:
#         place.offset = …
#     consumer.assign(partitions)
#
# consumer.subscribe([orders.topic], on_assign=begin)
# ```

# %% [markdown] covers="C045"
# ### Exercise 6.2: Nothing lost and nothing twice
#
# `database` is a connection to SQLite. `invoices(order_number, euros)` is empty, `positions(partition, next_offset)` too; `partition` is its primary key. `orders.invoice(message)` returns the row for `invoices`. Write the worker.
#
# In Python, `with database:` is a transaction: it commits at the end of the block, and after an error it takes everything back. `INSERT OR REPLACE` writes a row in place of the one with the same key. An offset that is not known is `OFFSET_BEGINNING`. Your program is killed twice, each time between two statements. If its consumer commits at the brokers, too, a third kill comes just before that.

# %%
# %%program bookkeeper
from confluent_kafka import OFFSET_BEGINNING

from threebrokers.lab.orders import Orders

orders = Orders(lab)
database = orders.database()
consumer = orders.consumer({"enable.auto.commit": False})


def next_offset(partition):
    query = "SELECT next_offset FROM positions WHERE partition = ?"
    row = database.execute(query, [partition]).fetchone()
    return row[0] if row else OFFSET_BEGINNING


# TODO: subscribe, with a function for the partitions; read; write invoice and offset
# BEGIN SOLUTION
def begin(consumer, partitions):
    for place in partitions:
        place.offset = next_offset(place.partition)
    consumer.assign(partitions)


consumer.subscribe([orders.topic], on_assign=begin)
while True:
    message = consumer.poll(0.2)
    if message is not None and not message.error():
        with database:
            database.execute("INSERT INTO invoices VALUES (?, ?)", orders.invoice(message))
            place = message.partition(), message.offset() + 1
            database.execute("INSERT OR REPLACE INTO positions VALUES (?, ?)", place)
# END SOLUTION

# %%
from threebrokers.lab.scenarios import killed_between_statements

books = killed_between_statements(lab, "bookkeeper")
books

# %% [markdown]
# <details><summary>Hint</summary>
#
# Which two statements must never be without each other? Where does a program begin to read after a crash, and who tells it?
#
# </details>
# <details><summary>Another hint</summary>
#
# `next_offset(partition)` is for your function. The number in `positions` is the offset of the record that comes *next*. One `with database:` around two `database.execute(…)`.
#
# </details>


# %% tags=["wrong"]
# two transactions, the invoice first | stand in two
def begin(consumer, partitions):
    for place in partitions:
        place.offset = next_offset(place.partition)
    consumer.assign(partitions)


consumer.subscribe([orders.topic], on_assign=begin)
while True:
    for message in consumer.consume(10, timeout=0.2):
        with database:
            database.execute("INSERT INTO invoices VALUES (?, ?)", orders.invoice(message))
        place = message.partition(), message.offset() + 1
        with database:
            database.execute("INSERT OR REPLACE INTO positions VALUES (?, ?)", place)


# %% tags=["wrong"]
# two transactions, the offset first | before its invoice was
def begin(consumer, partitions):
    for place in partitions:
        place.offset = next_offset(place.partition)
    consumer.assign(partitions)


consumer.subscribe([orders.topic], on_assign=begin)
while True:
    for message in consumer.consume(10, timeout=0.2):
        row = orders.invoice(message)
        with database:
            place = message.partition(), message.offset() + 1
            database.execute("INSERT OR REPLACE INTO positions VALUES (?, ?)", place)
        with database:
            database.execute("INSERT INTO invoices VALUES (?, ?)", row)


# %% tags=["wrong"]
# not the next offset | it should be the next one
def begin(consumer, partitions):
    for place in partitions:
        place.offset = next_offset(place.partition)
    consumer.assign(partitions)


consumer.subscribe([orders.topic], on_assign=begin)
while True:
    for message in consumer.consume(10, timeout=0.2):
        with database:
            database.execute("INSERT INTO invoices VALUES (?, ?)", orders.invoice(message))
            place = message.partition(), message.offset()
            database.execute("INSERT OR REPLACE INTO positions VALUES (?, ?)", place)

# %% tags=["wrong"]
# begins where the brokers say | began again at offset 0
consumer.subscribe([orders.topic])
while True:
    for message in consumer.consume(10, timeout=0.2):
        with database:
            database.execute("INSERT INTO invoices VALUES (?, ?)", orders.invoice(message))
            place = message.partition(), message.offset() + 1
            database.execute("INSERT OR REPLACE INTO positions VALUES (?, ?)", place)


# %% tags=["wrong"]
# sets the offsets, and does not assign | gives its offsets to nobody
def begin(consumer, partitions):
    for place in partitions:
        place.offset = next_offset(place.partition)


consumer.subscribe([orders.topic], on_assign=begin)
while True:
    for message in consumer.consume(10, timeout=0.2):
        with database:
            database.execute("INSERT INTO invoices VALUES (?, ?)", orders.invoice(message))
            place = message.partition(), message.offset() + 1
            database.execute("INSERT OR REPLACE INTO positions VALUES (?, ?)", place)


# %% tags=["wrong"]
# begins where the brokers say, and tells them | died before it had told them
consumer.subscribe([orders.topic])
while True:
    for message in consumer.consume(10, timeout=0.2):
        with database:
            database.execute("INSERT INTO invoices VALUES (?, ?)", orders.invoice(message))
            place = message.partition(), message.offset() + 1
            database.execute("INSERT OR REPLACE INTO positions VALUES (?, ?)", place)
        consumer.commit(message=message, asynchronous=False)

# %% tags=["wrong"]
# forgets to subscribe | has not got one order
while True:
    for message in consumer.consume(10, timeout=0.2):
        with database:
            database.execute("INSERT INTO invoices VALUES (?, ?)", orders.invoice(message))
            place = message.partition(), message.offset() + 1
            database.execute("INSERT OR REPLACE INTO positions VALUES (?, ?)", place)


# %% tags=["wrong"]
# leaves the offset with the brokers | the table `positions` is empty
consumer.subscribe([orders.topic])
while True:
    for message in consumer.consume(10, timeout=0.2):
        with database:
            database.execute("INSERT INTO invoices VALUES (?, ?)", orders.invoice(message))
        consumer.commit(message=message, asynchronous=False)


# %% tags=["wrong"]
# no transaction is ever committed | nothing stands in the table `invoices`
def begin(consumer, partitions):
    for place in partitions:
        place.offset = next_offset(place.partition)
    consumer.assign(partitions)


consumer.subscribe([orders.topic], on_assign=begin)
while True:
    for message in consumer.consume(10, timeout=0.2):
        database.execute("INSERT INTO invoices VALUES (?, ?)", orders.invoice(message))
        place = message.partition(), message.offset() + 1
        database.execute("INSERT OR REPLACE INTO positions VALUES (?, ?)", place)


# %% tags=["wrong"]
# two transactions, and rows of its own | was killed 0 times
def begin(consumer, partitions):
    for place in partitions:
        place.offset = next_offset(place.partition)
    consumer.assign(partitions)


consumer.subscribe([orders.topic], on_assign=begin)
while True:
    for message in consumer.consume(10, timeout=0.2):
        with database:
            database.execute("INSERT INTO invoices VALUES (?, ?)", (int(message.value()), 10))
        place = message.partition(), message.offset() + 1
        with database:
            database.execute("INSERT OR REPLACE INTO positions VALUES (?, ?)", place)


# %% tags=["right"]
# begins where its table says, and tells the brokers, too
def begin(consumer, partitions):
    for place in partitions:
        place.offset = next_offset(place.partition)
    consumer.assign(partitions)


consumer.subscribe([orders.topic], on_assign=begin)
while True:
    for message in consumer.consume(10, timeout=0.2):
        with database:
            database.execute("INSERT INTO invoices VALUES (?, ?)", orders.invoice(message))
            place = message.partition(), message.offset() + 1
            database.execute("INSERT OR REPLACE INTO positions VALUES (?, ?)", place)
        consumer.commit(message=message, asynchronous=False)

# %% tags=["right"]
# no group at all, ten orders in one transaction
from confluent_kafka import TopicPartition

consumer.assign([TopicPartition(orders.topic, 0, next_offset(0))])
while True:
    messages = consumer.consume(10, timeout=0.2)
    with database:
        for message in messages:
            database.execute("INSERT INTO invoices VALUES (?, ?)", orders.invoice(message))
            row = message.partition(), message.offset() + 1
            database.execute("INSERT OR REPLACE INTO positions VALUES (?, ?)", row)

# %% tags=["nbval-check-output"]
lab.check.nothing_twice(books)

# %% [markdown]
# That holds for one worker at a time. One that others take for dead can still write; a unique order number in `invoices` keeps that out. And tools that ask the brokers cannot see here how far a worker has come.
#
# *A good place for a pause: the second half needs only the set-up cell at the top.*

# %% [markdown] covers="A136 E062" explains="poison pill"
# ## Second half: one record cannot be read
#
# 24 payments wait in a topic of one partition. Number 9 is no JSON, and number 17 has no amount: somebody else's program has a fault. A record that nobody can process is a **poison pill**. `book` raises an error for it, and so the worker dies. Something like systemd or Kubernetes starts it again: five times here.

# %%
guess_6b = lab.predict("6.b")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_6b.choose("9")
# END SOLUTION

# %%
import json

from threebrokers.lab.scenarios import payments_with_poison

payments, ledger = payments_with_poison(lab, "payments-stuck")
booked = []


def book(message):
    payment = json.loads(message.value())
    booked.append((payment["payment"], payment["euros"]))
    ledger.processed(message)


def work_until_it_dies(consumer):
    while len(booked) < 24:
        for message in consumer.consume(1, timeout=0.2):
            if message.error():
                continue
            book(message)
            consumer.commit(message=message, asynchronous=False)


# %%
clerks = {"group.id": lab.group("clerks"), "auto.offset.reset": "earliest", "enable.auto.commit": False}
for start in range(1, 6):
    clerk = lab.consumer(clerks)
    clerk.subscribe([payments])
    try:
        work_until_it_dies(clerk)
    except (ValueError, KeyError) as fault:
        print(f"start {start} ends with {type(fault).__name__}; booked so far: {len(booked)}")
    clerk.close()
guess_6b.compare(str(len(booked)))

# %% [markdown] explains="dead-letter topic"
# Order has its price: behind the record that cannot be read, everything waits. And whoever skips it with `except: pass` has lost a payment, and nobody knows.
#
# The usual way is a **dead-letter topic**: the bad record goes there as it is, with a note why, and the worker goes on. A person looks at the topic later, mends the fault and sends the record again: behind all later ones, so its place in the order is lost.

# %% [markdown]
# ### Exercise 6.3: Set the bad ones aside
#
# Here is a fresh topic of the same kind, and the group `cashiers`, which has read nothing. Book all payments that can be booked. Write each other one into the topic `dead`:
#
# - key, value and headers as they came, byte for byte;
# - three headers more: `reason` (what the error says), `partition` and `offset` (where it was), as text.
#
# In the end the group has committed everything, and not before it is safe to do so: if the brokers refuse a dead letter (lab 05), your program ends with an error.

# %%
from secrets import token_hex

payments, ledger = payments_with_poison(lab)
dead, booked, reports = lab.fresh_topic("payments-dead"), [], []
cashiers = {"group.id": lab.group(f"cashiers-{token_hex(2)}"), "auto.offset.reset": "earliest"}
cashier = lab.consumer({**cashiers, "enable.auto.commit": False})
# TODO: make a producer `postman`; read 24 payments with `cashier`; book each, or set it aside
# BEGIN SOLUTION
postman = lab.producer({"on_delivery": lambda error, letter: reports.append(error)})
cashier.subscribe([payments])
for message in [m for m in cashier.consume(24, timeout=10) if not m.error()]:
    try:
        book(message)
    except (ValueError, KeyError) as fault:
        place = [("partition", str(message.partition())), ("offset", str(message.offset()))]
        headers = [*(message.headers() or []), ("reason", repr(fault)), *place]
        postman.produce(dead, message.value(), message.key(), headers=headers)
        if postman.flush() or any(reports):
            raise RuntimeError(f"a dead letter is not stored: {reports}") from fault
    cashier.commit(message=message, asynchronous=False)
# END SOLUTION
cashier.close()

# %% [markdown]
# <details><summary>Hint</summary>
#
# Which errors does `book` raise? What does a message give you besides its value? What must be certain before the offset of a bad record is committed?
#
# </details>
# <details><summary>Another hint</summary>
#
# `message.headers()` is a list of pairs, or None. `produce(topic, value, key, headers=[…])` takes such a list. `flush()` waits for the delivery report; what it says, only `on_delivery` learns, a function of `(error, message)`.
#
# </details>

# %% tags=["wrong"]
# skips silently | is empty, and 2 payments
cashier, postman = lab.consumer(cashiers), lab.producer()
cashier.subscribe([payments])
for message in cashier.consume(24, timeout=10):
    try:
        book(message)
    except (ValueError, KeyError):
        print("skipped:", message.value())
cashier.close()

# %% tags=["wrong", "raises-exception"]
# forgets the missing amount | KeyError: 'euros'
cashier, postman = lab.consumer(cashiers), lab.producer()
cashier.subscribe([payments])
for message in cashier.consume(24, timeout=10):
    try:
        book(message)
    except ValueError as fault:
        more = [("reason", repr(fault)), ("partition", "0"), ("offset", str(message.offset()))]
        postman.produce(dead, message.value(), message.key(), headers=message.headers() + more)
        postman.flush()
cashier.close()

# %% tags=["wrong"]
# drops the headers | the header 'trace'
cashier, postman = lab.consumer(cashiers), lab.producer()
cashier.subscribe([payments])
for message in cashier.consume(24, timeout=10):
    try:
        book(message)
    except (ValueError, KeyError) as fault:
        more = [("reason", repr(fault)), ("partition", "0"), ("offset", str(message.offset()))]
        postman.produce(dead, message.value(), message.key(), headers=more)
        postman.flush()
cashier.close()

# %% tags=["wrong"]
# does not wait for the dead letters | no delivery report yet
cashier, postman = lab.consumer(cashiers), lab.producer({"linger.ms": 10_000})
cashier.subscribe([payments])
for message in cashier.consume(24, timeout=10):
    try:
        book(message)
    except (ValueError, KeyError) as fault:
        more = [("reason", repr(fault)), ("partition", "0"), ("offset", str(message.offset()))]
        postman.produce(dead, message.value(), message.key(), headers=message.headers() + more)
cashier.close()

# %% tags=["wrong"]
# commits, and then looks whether the dead letter is stored | before the dead letter
cashier, told = lab.consumer({**cashiers, "enable.auto.commit": False}), []
postman = lab.producer({"on_delivery": lambda error, letter: told.append(error)})
cashier.subscribe([payments])
for message in cashier.consume(24, timeout=10):
    try:
        book(message)
    except (ValueError, KeyError) as fault:
        more = [("reason", repr(fault)), ("partition", "0"), ("offset", str(message.offset()))]
        postman.produce(dead, message.value(), message.key(), headers=message.headers() + more)
        cashier.commit(message=message, asynchronous=False)
        if postman.flush() or any(told):
            raise RuntimeError(told) from fault
    cashier.commit(message=message, asynchronous=False)
cashier.close()

# %% tags=["wrong"]
# commits nothing | has committed nothing
cashier, postman = lab.consumer({**cashiers, "enable.auto.commit": False}), lab.producer()
cashier.subscribe([payments])
for message in cashier.consume(24, timeout=10):
    try:
        book(message)
    except (ValueError, KeyError) as fault:
        more = [("reason", repr(fault)), ("partition", "0"), ("offset", str(message.offset()))]
        postman.produce(dead, message.value(), message.key(), headers=message.headers() + more)
        postman.flush()
cashier.close()

# %% tags=["wrong"]
# keeps the reports, and looks at none | nothing looks at them
cashier, told = lab.consumer({**cashiers, "enable.auto.commit": False}), []
postman = lab.producer({"on_delivery": lambda error, letter: told.append(error)})
cashier.subscribe([payments])
for message in cashier.consume(24, timeout=10):
    try:
        book(message)
    except (ValueError, KeyError) as fault:
        more = [("reason", repr(fault)), ("partition", "0"), ("offset", str(message.offset()))]
        postman.produce(dead, message.value(), message.key(), headers=message.headers() + more)
        postman.flush()
    cashier.commit(message=message, asynchronous=False)
cashier.close()

# %% tags=["wrong"]
# prints that a dead letter was refused, and goes on | none of its lines ends it
cashier, told = lab.consumer({**cashiers, "enable.auto.commit": False}), []
postman = lab.producer({"on_delivery": lambda error, letter: told.append(error)})
cashier.subscribe([payments])
for message in cashier.consume(24, timeout=10):
    try:
        book(message)
    except (ValueError, KeyError) as fault:
        more = [("reason", repr(fault)), ("partition", "0"), ("offset", str(message.offset()))]
        postman.produce(dead, message.value(), message.key(), headers=message.headers() + more)
        postman.flush()
        if any(told):
            print("refused:", told)
    cashier.commit(message=message, asynchronous=False)
cashier.close()

# %% tags=["wrong"]
# makes an error, and forgets to raise it | nowhere, and raises nothing
from confluent_kafka import KafkaException


def stored(error, letter):
    if error is not None:
        KafkaException(error)


cashier, postman = lab.consumer({**cashiers, "enable.auto.commit": False}), lab.producer()
cashier.subscribe([payments])
for message in cashier.consume(24, timeout=10):
    try:
        book(message)
    except (ValueError, KeyError) as fault:
        more = [("reason", repr(fault)), ("partition", "0"), ("offset", str(message.offset()))]
        headers = message.headers() + more
        postman.produce(dead, message.value(), message.key(), headers=headers, on_delivery=stored)
        postman.flush()
    cashier.commit(message=message, asynchronous=False)
cashier.close()

# %% tags=["wrong"]
# one reason for both | the reason of each dead letter is
cashier, told = lab.consumer({**cashiers, "enable.auto.commit": False}), []
postman = lab.producer({"on_delivery": lambda error, letter: told.append(error)})
cashier.subscribe([payments])
for message in cashier.consume(24, timeout=10):
    try:
        book(message)
    except (ValueError, KeyError) as fault:
        more = [("reason", "cannot be booked"), ("partition", "0"), ("offset", str(message.offset()))]
        postman.produce(dead, message.value(), message.key(), headers=message.headers() + more)
        if postman.flush() or any(told):
            raise RuntimeError(told) from fault
    cashier.commit(message=message, asynchronous=False)
cashier.close()

# %% tags=["wrong"]
# leaves the commits to the client | by itself, in the background
cashier, told = lab.consumer(cashiers), []
postman = lab.producer({"on_delivery": lambda error, letter: told.append(error)})
cashier.subscribe([payments])
for message in cashier.consume(24, timeout=10):
    try:
        book(message)
    except (ValueError, KeyError) as fault:
        more = [("reason", repr(fault)), ("partition", "0"), ("offset", str(message.offset()))]
        postman.produce(dead, message.value(), message.key(), headers=message.headers() + more)
        if postman.flush() or any(told):
            raise RuntimeError(told) from fault
cashier.close()

# %% tags=["wrong"]
# takes flush() for the report | would not have noticed
cashier, postman = lab.consumer({**cashiers, "enable.auto.commit": False}), lab.producer()
cashier.subscribe([payments])
for message in cashier.consume(24, timeout=10):
    try:
        book(message)
    except (ValueError, KeyError) as fault:
        more = [("reason", repr(fault)), ("partition", "0"), ("offset", str(message.offset()))]
        postman.produce(dead, message.value(), message.key(), headers=message.headers() + more)
        postman.flush()
    cashier.commit(message=message, asynchronous=False)
cashier.close()

# %% tags=["wrong"]
# the brokers refuse the dead letters, and it goes on | was sent and is not stored
cashier, postman = lab.consumer({**cashiers, "enable.auto.commit": False}), lab.producer()
cashier.subscribe([payments])
for message in cashier.consume(24, timeout=10):
    try:
        book(message)
    except (ValueError, KeyError) as fault:
        more = [("reason", repr(fault)), ("partition", "0"), ("offset", str(message.offset()))]
        letter = {"headers": message.headers() + more, "timestamp": 1000 * message.timestamp()[1]}
        postman.produce(dead, message.value(), message.key(), **letter)
        postman.flush()
    cashier.commit(message=message, asynchronous=False)
cashier.close()

# %% tags=["wrong"]
# forgets to subscribe | has neither subscribed nor been given partitions
cashier, postman = lab.consumer(cashiers), lab.producer()
for message in cashier.consume(24, timeout=1):
    book(message)

# %% tags=["right"]
# plain clients, one flush, one commit when all is safe
from confluent_kafka import Consumer, Producer

postman, faults = Producer({"bootstrap.servers": lab.bootstrap}), []
cashier = Consumer({**cashiers, "bootstrap.servers": lab.bootstrap, "enable.auto.commit": False})
cashier.subscribe([payments])
count = 0
while count < 24:
    message = cashier.poll(1)
    if message is None:
        continue
    count += 1
    try:
        book(message)
    except Exception as fault:
        headers = dict(message.headers())
        headers |= {"reason": str(fault), "partition": b"0", "offset": str(message.offset())}
        letter = {"key": message.key(), "value": message.value(), "headers": headers}
        postman.produce(dead, **letter, on_delivery=lambda error, m: error and faults.append(error))
if postman.flush() or faults:
    raise RuntimeError(f"not all dead letters are stored: {faults}")
cashier.commit()
cashier.close()

# %% tags=["right"]
# a report that raises, and a commit when all are there
from confluent_kafka import KafkaException


def stored(error, letter):
    if error is not None:
        raise KafkaException(error)


cashier, postman = lab.consumer({**cashiers, "enable.auto.commit": False}), lab.producer()
cashier.subscribe([payments])
for message in cashier.consume(24, timeout=10):
    try:
        book(message)
    except (ValueError, KeyError) as fault:
        more = [("reason", type(fault).__name__), ("partition", "0"), ("offset", f"{message.offset()}")]
        headers = message.headers() + more
        postman.produce(dead, message.value(), message.key(), headers=headers, on_delivery=stored)
postman.flush()
cashier.commit(asynchronous=False)
cashier.close()

# %% tags=["right"]
# keeps the letters, asks each for its error, and a `with` block that waits for them
from confluent_kafka import Producer

letters = []
cashier = lab.consumer({**cashiers, "enable.auto.commit": False})
postman: Producer = lab.producer({"on_delivery": lambda error, letter: letters.append(letter)})
cashier.subscribe([payments])
with postman:
    for message in cashier.consume(24, timeout=10):
        try:
            book(message)
        except (ValueError, KeyError) as fault:
            more = [("reason", repr(fault)), ("partition", "0"), ("offset", str(message.offset()))]
            postman.produce(dead, message.value(), message.key(), headers=message.headers() + more)
for letter in letters:
    if letter.error():
        raise RuntimeError(letter.error())
cashier.commit(asynchronous=False)
cashier.close()

# %% tags=["nbval-check-output"]
lab.check.set_aside(dead, cashiers, postman)

# %% [markdown] covers="A143 D073 A055 D093 A144 D094" explains="close()"
# ## Leave, or be missed
#
# A worker ends, another one of its group waits. How soon does the other get the partitions? The first one may call `close()` and end, or be killed. Even then the operating system closes its connections, so the broker sees at once that they are gone.
#
# The session (`session.timeout.ms`) is 3 s in this experiment.

# %%
guess_6c = lab.predict("6.c")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_6c.choose("closed: at once; killed: after the session")
# END SOLUTION

# %%
from threebrokers.lab.scenarios import takeover_seconds

closed, killed = (takeover_seconds(lab, closes=closes) for closes in (True, False))
print(f"The next member got a record {closed:.1f} s after close(), and {killed:.1f} s after the kill.")
lab.observed("After close() the next member did not have to wait for the session", closed < 3)
told = "after the session" if killed > closed + 1 else "at once"
guess_6c.compare(f"closed: at once; killed: {told}")

# %% [markdown] covers="A056"
# One broker keeps a group's members and offsets: its **coordinator**. `close()` tells it that the member leaves. A lost connection proves nothing: the member may come back. So the coordinator counts the session from the last heartbeat (sign of life) on: by default nobody reads those partitions for 45 s. A program that is asked to end should close its consumer.
#
# Two rules for that in Python:
#
# - A consumer belongs to **one thread**. Only that thread calls it, also `close()`. Another thread can set a flag (`threading.Event`), which the loop looks at. (Java has `consumer.wakeup()` for that, the only method that another thread may call.)
# - A loop that looks at a flag must not wait for a minute in `poll(60)`. In the main thread `poll` notices Ctrl-C within 0.2 s; `consume`, and any call in another thread, only when its time is over.

# %% [markdown]
# ### Exercise 6.4: Leave at once
#
# This member of a group works in a thread, so that the main program is free for other things. Ctrl-C ends it, and its group waits:
#
# ```python
# def work():
#     consumer = Consumer(config)
#     consumer.subscribe([orders.topic])
#     while True:
#         consumer.poll(10)
#     consumer.close()
#
# threading.Thread(target=work, daemon=True).start()
# until_ctrl_c()
# ```
#
# (`until_ctrl_c()` returns when Ctrl-C comes, which Python raises as `KeyboardInterrupt` in the main thread.)
#
# Mend it: at most a second after Ctrl-C nobody is in the group any more, and the program ends. (In this exercise the client is confluent-kafka's own, because `lab` closes those that it makes.)

# %%
# %%program member
import contextlib
import threading

from confluent_kafka import Consumer

from threebrokers.lab.orders import Orders

orders = Orders(lab)
config = {"bootstrap.servers": lab.bootstrap, "group.id": orders.group}
over = threading.Event()


def until_ctrl_c():
    with contextlib.suppress(KeyboardInterrupt):
        threading.Event().wait()


# TODO: join the group with Consumer(config) in a thread, wait until_ctrl_c(), leave the group
# BEGIN SOLUTION
def work():
    consumer = Consumer(config)
    consumer.subscribe([orders.topic])
    while not over.is_set():
        consumer.poll(0.2)
    consumer.close()


thread = threading.Thread(target=work)
thread.start()
until_ctrl_c()
over.set()
thread.join()
# END SOLUTION

# %%
from threebrokers.lab.scenarios import ended_by_ctrl_c

departure = ended_by_ctrl_c(lab, "member")
departure

# %% [markdown]
# <details><summary>Hint</summary>
#
# Is the line `consumer.close()` ever reached? What happens to a daemon thread when the main program ends?
#
# </details>
# <details><summary>Another hint</summary>
#
# `over` is an event, which has `set()` and `is_set()`. The main program can set it when `until_ctrl_c()` returns, and wait with `thread.join()`. How long may one `poll` wait?
#
# </details>


# %% tags=["wrong"]
# leaves it as it is | its thread ends with the program
def work():
    consumer = Consumer(config)
    consumer.subscribe([orders.topic])
    while True:
        consumer.poll(10)
    consumer.close()


threading.Thread(target=work, daemon=True).start()
until_ctrl_c()


# %% tags=["wrong"]
# waits too long in poll | poll waits too long
def work():
    consumer = Consumer(config)
    consumer.subscribe([orders.topic])
    while not over.is_set():
        consumer.poll(30)
    consumer.close()


thread = threading.Thread(target=work)
thread.start()
until_ctrl_c()
over.set()
thread.join()


# %% tags=["wrong"]
# rests before it leaves | sleeps for 2 s on its way
import time


def work():
    consumer = Consumer(config)
    consumer.subscribe([orders.topic])
    while not over.is_set():
        consumer.poll(0.2)
    time.sleep(2)
    consumer.close()


thread = threading.Thread(target=work)
thread.start()
until_ctrl_c()
over.set()
thread.join()

# %% tags=["wrong"]
# closes it from the main thread | another thread closes the consumer
consumer = Consumer(config)
consumer.subscribe([orders.topic])


def work():
    while not over.is_set():
        consumer.poll(0.2)


threading.Thread(target=work, daemon=True).start()
until_ctrl_c()
consumer.close()


# %% tags=["wrong"]
# does not wait for Ctrl-C | before it was a member
def work():
    consumer = Consumer(config)
    consumer.subscribe([orders.topic])
    while not over.is_set():
        consumer.poll(0.2)
    consumer.close()


thread = threading.Thread(target=work)
thread.start()
over.set()
thread.join()

# %% tags=["wrong"]
# goes on after Ctrl-C | its program goes on
consumer = Consumer(config)
consumer.subscribe([orders.topic])
while True:
    try:
        consumer.poll(0.2)
    except KeyboardInterrupt:
        continue

# %% tags=["wrong"]
# a static member does not leave | group.instance.id
consumer = Consumer({**config, "group.instance.id": "worker"})
consumer.subscribe([orders.topic])
try:
    while True:
        consumer.poll(0.2)
finally:
    consumer.close()

# %% tags=["wrong"]
# never joins | nobody joined the group
consumer = Consumer(config)
try:
    while True:
        consumer.poll(0.2)
finally:
    consumer.close()

# %% tags=["wrong"]
# a text for a list | ended in an error
consumer = Consumer(config)
consumer.subscribe(orders.topic)
while True:
    consumer.poll(0.2)

# %% tags=["right"]
# another thread closes it when the first one has ended
consumer = Consumer(config)
consumer.subscribe([orders.topic])


def leave():
    consumer.close()


def work():
    while not over.is_set():
        consumer.poll(0.2)


thread = threading.Thread(target=work)
thread.start()
until_ctrl_c()
over.set()
thread.join()
leave()

# %% tags=["right"]
# no thread at all
consumer = Consumer(config)
consumer.subscribe([orders.topic])
try:
    while True:
        consumer.poll(0.2)
finally:
    consumer.close()

# %% tags=["right"]
# a handler that sets the flag
import signal

signal.signal(signal.SIGINT, lambda number, frame: over.set())
consumer = Consumer(config)
consumer.subscribe([orders.topic])
while not over.is_set():
    consumer.consume(10, timeout=0.1)
consumer.close()

# %% tags=["nbval-check-output"]
lab.check.left_at_once(departure)

# %% [markdown]
# ## Here and in production
#
# | | here | default |
# |---|---|---|
# | a silent member is missed after (`session.timeout.ms`) | 6 s; 3 s when one is killed; 45 s in exercise 6.4 | 45 s |
# | a member tells that it is alive (`heartbeat.interval.ms`) | 3 s; 0.6 s when one is killed | 3 s |
# | a client commits by itself (`auto.commit.interval.ms`) | 5 s; 2 s in the program `worker`, 0.5 s in exercises 6.1 and 6.2 | 5 s |
# | a new group waits for more members (`group.initial.rebalance.delay.ms`) | 0 | 3 s |
# | committed offsets of an empty group are kept (`offsets.retention.minutes`) | 7 days | 7 days |
#
# What was lost and what came twice does not depend on these numbers. How much came twice does: with 5 s between two commits it is the work of up to 5 s.

# %% [markdown]
# ## What to remember
#
# - Committed is the offset of the *next* record, for the whole partition. Commit what is done, never what is only read: at least once.
# - Exactly once into a database: result and offset in one transaction, and begin where the database says.
# - A record that cannot be processed goes to a dead-letter topic before its offset is committed. A consumer that ends is closed by its own thread.

# %% [markdown] covers="A164"
# ## Quiz
#
# Each answer is explained when you have chosen it. The first one is kept with your progress, on this machine.

# %%
lab.quiz()

# %% [markdown]
# ## Going further
#
# What follows is not needed for the next lab. Each section stands by itself, after the set-up cell and the cell of *Two offsets* at the top; exercise 6.5 belongs to the section before it.

# %% [markdown] covers="D168 C037 D084 E078 D087 C039 A162 A163 D085 B087"
# ### Waiting for each commit
#
# In exercise 6.1 the program waits for the brokers after each order. What does that cost? Here are 5,000 small records, the same loop, and four ways to commit: records per second, in one run. (Where each record is committed, fewer are read.)

# %%
import time

import pandas as pd

from threebrokers.lab.scenarios import flooded

flood = flooded(lab, "flood")


def records_per_second(every, waits, count):
    one = lab.consumer({**viewers, "group.id": lab.group(f"rate-{time.time_ns()}")})
    one.assign([TopicPartition(flood, 0, 0)])
    one.consume(1, timeout=10)
    start = time.perf_counter()
    for number in range(1, count):
        message = one.poll(10)
        if number % every == 0:
            one.commit(message=message, asynchronous=not waits)
    one.close()
    return round(count / (time.perf_counter() - start))


viewers = {"auto.offset.reset": "earliest", "enable.auto.commit": False}
rows = [(1, True, 200), (1, False, 500), (500, True, 5000), (500, False, 5000)]
rates = [records_per_second(*row) for row in rows]
head = ["commit after so many", "waits for the answer", "of so many"]
pd.DataFrame(rows, columns=head).assign(**{"records per second": rates})

# %% [markdown]
# A commit that waits costs a journey to the coordinator, and the coordinator waits until its followers have it. What helps most is to commit seldom: if each record is committed, not to wait gains little, because the coordinator writes each commit all the same. `commit(…)` without `asynchronous=False` does not wait. Only a function in the setting `on_commit` learns, inside `poll`, whether it went well. A program commits 4,000, and then an older commit of 1,000 comes:

# %%
guess_6d = lab.predict("6.d")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_6d.choose("1000")
# END SOLUTION

# %%
late = lab.consumer({**viewers, "group.id": lab.group("late")})
for offset in (4000, 1000):
    late.commit(offsets=[TopicPartition(flood, 0, offset)], asynchronous=False)
has = late.committed([TopicPartition(flood, 0)], timeout=5)[0].offset
late.close()
guess_6d.compare(str(has))

# %% [markdown]
# The brokers write down what they are told last. So a commit that failed must not be tried again when a newer one is on its way. Who wants to try again **counts** the commits, and repeats only the newest.
#
# A commit can carry a note, `metadata`, which the brokers keep beside the offset: here it holds the commit's number. Notes of more than 4,096 bytes are refused (`offset.metadata.max.bytes`), which makes two of these commits fail for certain:

# %%
sent, heard = [], []


def commit_later(offset, note=""):
    sent.append(offset)
    place = TopicPartition(flood, 0, offset, metadata=f"{len(sent)} {note}")
    late.commit(offsets=[place], asynchronous=True)


def told(error, places):  # the client calls it inside poll()
    number, fault = int(places[0].metadata.split()[0]), error or places[0].error
    heard.append(f"{number}: {fault.name() if fault else 'committed'}")
    if fault and number == len(sent):  # nothing newer is on its way
        commit_later(sent[-1], "again")


# %%
late = lab.consumer({**viewers, "group.id": lab.group("late"), "on_commit": told})
for offset, note in [(1000, "x" * 5000), (2000, ""), (3000, "x" * 5000)]:
    commit_later(offset, note)
print("before poll():", heard)
lab.wait_until(lambda: late.poll(0.1) or len(heard) >= 4, what="four answers")
place = late.committed([TopicPartition(flood, 0)], timeout=5)[0]
late.close()
print(*heard, f"committed: {place.offset}, with the note {place.metadata!r}", sep="\n")
refused = sum("committed" not in answer for answer in heard)
lab.observed("Two of four commits failed, and only the newest was repeated", refused == 2 and len(sent) == 4)

# %% [markdown]
# `on_commit` counts what failed; a program that sets no such function never hears of it. Commit 1 was not repeated: commit 2 mends it, and repeated it would take the group back. Commit 3 had no newer one, so it came again as number 4. Usually it is not worth the lines: the next commit mends what failed. Only at the *end* of the program there is no next one.

# %% [markdown] covers="C038 D086"
# ### Exercise 6.5: Fast and safe
#
# Read all 5,000 records of `visits` with the group `group`, and commit so that a crash costs at most 500 records again, with 60 commits or fewer. In the end the group has committed everything, also if the program is interrupted.

# %%
visits = flooded(lab, "visits")
group = lab.group(f"viewers-{time.time_ns()}")
# TODO: make the consumer `visitor`, read 5,000 records, commit in the loop and at the end, close it
# BEGIN SOLUTION
visitor = lab.consumer({**viewers, "group.id": group})
visitor.subscribe([visits])
read = []
try:
    while len(read) < 5000:
        read += [message for message in visitor.consume(250, timeout=1) if not message.error()]
        if read:
            visitor.commit(message=read[-1])
finally:
    if read:
        visitor.commit(message=read[-1], asynchronous=False)
    visitor.close()
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# How many records lie between two commits if there are 60 of them? Which of your commits must wait for its answer?
#
# </details>
# <details><summary>Another hint</summary>
#
# Python runs a `finally:` block after Ctrl-C too. `commit()` without a message takes the consumer's position, which may have moved on if the commit does not wait, and raises `_NO_OFFSET` if that is committed already.
#
# </details>

# %% tags=["wrong"]
# commits every fifty records | commits of the group `group`
visitor = lab.consumer({**viewers, "group.id": group})
visitor.subscribe([visits])
count = 0
while count < 5000:
    message = visitor.poll(1)
    if message is not None:
        count += 1
        last = message
        if count % 50 == 0:
            visitor.commit(message=message)
visitor.commit(message=last, asynchronous=False)
visitor.close()

# %% tags=["wrong"]
# one commit at the end | a crash before it costs everything
visitor = lab.consumer({**viewers, "group.id": group})
visitor.subscribe([visits])
count = 0
while count < 5000:
    count += len(visitor.consume(500, timeout=0.2))
visitor.commit(asynchronous=False)
visitor.close()

# %% tags=["wrong"]
# no commit at the end | the last records would come again
visitor = lab.consumer({**viewers, "group.id": group})
visitor.subscribe([visits])
count = 0
while count < 5000:
    message = visitor.poll(1)
    if message is not None:
        count += 1
        if count % 300 == 0:
            visitor.commit(message=message)
visitor.close()

# %% tags=["wrong"]
# a last commit that an interruption passes over | behind the loop
visitor = lab.consumer({**viewers, "group.id": group})
visitor.subscribe([visits])
count = 0
while count < 5000:
    message = visitor.poll(1)
    if message is not None:
        count += 1
        if count % 400 == 0:
            visitor.commit(message=message, asynchronous=False)
visitor.commit(asynchronous=False)
visitor.close()

# %% tags=["wrong"]
# nothing in `finally` | the loop commits now and then
visitor, count = lab.consumer({**viewers, "group.id": group}), 0
visitor.subscribe([visits])
try:
    while count < 5000:
        message = visitor.poll(1)
        if message is not None:
            count += 1
            if count % 250 == 0:
                visitor.commit(message=message)
finally:
    visitor.close()

# %% tags=["wrong"]
# a last commit that nobody waits for | does not wait for its answer
visitor, count = lab.consumer({**viewers, "group.id": group}), 0
visitor.subscribe([visits])
try:
    while count < 5000:
        message = visitor.poll(1)
        if message is not None:
            count += 1
            last = message
            if count % 250 == 0:
                visitor.commit(message=message)
finally:
    visitor.commit(message=last)
    visitor.close()

# %% tags=["wrong"]
# begins at the end of the log | `auto.offset.reset` is latest
visitor = lab.consumer({"group.id": group, "enable.auto.commit": False})
visitor.subscribe([visits])
for _ in range(10):
    visitor.consume(500, timeout=0.2)
visitor.close()

# %% tags=["wrong"]
# an old commit over the newer one | went back from
visitor = lab.consumer({**viewers, "group.id": group})
visitor.subscribe([visits])
count = 0
while count < 5000:
    message = visitor.poll(1)
    if message is not None:
        count += 1
        if count % 250 == 0:
            visitor.commit(message=message)
        if count == 250:
            first_commit = message
visitor.commit(message=first_commit, asynchronous=False)
visitor.close()

# %% tags=["wrong"]
# commits nothing | has committed nothing
visitor = lab.consumer({**viewers, "group.id": group})
visitor.subscribe([visits])
count = 0
while count < 5000:
    count += len(visitor.consume(500, timeout=0.2))
visitor.close()

# %% tags=["wrong"]
# commits offsets of records that it has not read | neither subscribed
visitor = lab.consumer({**viewers, "group.id": group})
for offset in range(500, 5001, 500):
    visitor.commit(offsets=[TopicPartition(visits, 0, offset)], asynchronous=False)
visitor.close()

# %% tags=["right"]
# batches, all of them waited for
visitor = lab.consumer({**viewers, "group.id": group})
visitor.subscribe([visits])
count = 0
while count < 5000:
    messages = visitor.consume(200, timeout=0.2)
    count += len(messages)
    if messages:
        visitor.commit(asynchronous=False)
visitor.close()

# %% tags=["right"]
# batches, all of them waited for, and one commit more
visitor = lab.consumer({**viewers, "group.id": group})
visitor.subscribe([visits])
count = 0
while count < 5000:
    messages = visitor.consume(250, timeout=1)
    if messages:
        count += len(messages)
        visitor.commit(message=messages[-1], asynchronous=False)
visitor.commit(message=messages[-1], asynchronous=False)
visitor.close()

# %% tags=["nbval-check-output"]
lab.check.few_commits(group, visits, visitor)

# %% [markdown] covers="A012 A084 A134 A135 B116 C040 D090 E081" explains="offsets_for_times"
# ### Exercise 6.6: Replay the last ten minutes
#
# The topic `webclicks` has a click for each of the last 90 minutes, in three partitions, and two that came late. The group `bookers` has read all of them. Ten minutes ago somebody put a wrong formula into the program, and the results since then are wrong. The records are right, so read them again: into the list `replayed`, all records whose timestamp is `since` (milliseconds) or later, and no other, with a consumer `booker`.
#
# `offsets_for_times` finds the *first* record of a partition that has the time you ask for, or a later one. (Behind it older ones may stand, for a log is not always in the order of its times.) What does it answer for a partition that has none?

# %%
import time
from secrets import token_hex

from threebrokers.lab.scenarios import last_minutes

bookers = lab.group(f"bookers-{token_hex(2)}")
webclicks = last_minutes(lab, bookers)
since = int((time.time() - 10 * 60) * 1000)
# TODO: make `booker`, take it back to the time, and read into the list `replayed`
# BEGIN SOLUTION
booker = lab.consumer({"group.id": bookers, "enable.partition.eof": True, "enable.auto.commit": False})
asked = [TopicPartition(webclicks, p, since) for p in range(3)]
booker.assign(booker.offsets_for_times(asked, timeout=10))
replayed, ended = [], 0
while ended < 3:
    message = booker.poll(1)
    if message is None:
        continue
    if message.error():
        ended += 1
    elif message.timestamp()[1] >= since:
        replayed.append(message)
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# How many places are there to find? When does a consumer have a partition, so that it can `seek` in it?
#
# </details>
# <details><summary>Another hint</summary>
#
# `offsets_for_times` takes `TopicPartition(topic, partition, milliseconds)` and returns such with offsets, which `assign` takes. With `enable.partition.eof` poll returns an error, `_PARTITION_EOF`, at each end. `message.timestamp()` is a pair; its second part is the time.
#
# </details>

# %% tags=["wrong"]
# takes all that stands behind the place | they came late, and stand behind younger ones
booker = lab.consumer({"group.id": bookers})
booker.assign(booker.offsets_for_times([TopicPartition(webclicks, p, since) for p in range(3)], timeout=10))
replayed = booker.consume(11, timeout=10)

# %% tags=["wrong", "raises-exception"]
# seeks before it has its partitions | ended in an error
booker = lab.consumer({"group.id": bookers})
booker.subscribe([webclicks])
for place in booker.offsets_for_times([TopicPartition(webclicks, p, since) for p in range(3)], timeout=10):
    booker.seek(place)
replayed = booker.consume(10, timeout=2)

# %% tags=["wrong"]
# takes seconds for milliseconds | of 1970
booker = lab.consumer({"group.id": bookers})
asked = [TopicPartition(webclicks, p, since // 1000) for p in range(3)]
booker.assign(booker.offsets_for_times(asked, timeout=10))
replayed = booker.consume(92, timeout=2)

# %% tags=["wrong"]
# compares the kind of the time | your program kept none
booker = lab.consumer({"group.id": bookers})
booker.assign(booker.offsets_for_times([TopicPartition(webclicks, p, since) for p in range(3)], timeout=10))
replayed = [message for message in booker.consume(11, timeout=5) if message.timestamp()[0] >= since]

# %% tags=["wrong"]
# ends at a record that came late | your loop ends at the first record
booker = lab.consumer({"group.id": bookers})
booker.assign(booker.offsets_for_times([TopicPartition(webclicks, p, since) for p in range(3)], timeout=10))
replayed = []
while message := booker.poll(5):
    if message.timestamp()[1] < since:
        break
    replayed.append(message)

# %% tags=["wrong"]
# takes the time for an offset | and this is a time
booker = lab.consumer({"group.id": bookers})
booker.assign([TopicPartition(webclicks, p, since) for p in range(3)])
replayed = booker.consume(10, timeout=2)

# %% tags=["wrong"]
# one partition only | nothing of partition 1
booker = lab.consumer({"group.id": bookers})
booker.assign(booker.offsets_for_times([TopicPartition(webclicks, 0, since)], timeout=10))
replayed = [message for message in booker.consume(5, timeout=10) if message.timestamp()[1] >= since]

# %% tags=["wrong"]
# takes offsets for minutes | an offset is no time
booker = lab.consumer({"group.id": bookers})
booker.assign([TopicPartition(webclicks, p, 20) for p in range(3)])
replayed = booker.consume(32, timeout=10)

# %% tags=["wrong"]
# another time | not ten minutes ago
since = int((time.time() - 10 * 60 * 60) * 1000)
booker = lab.consumer({"group.id": bookers})
booker.assign([TopicPartition(webclicks, p, 0) for p in range(3)])
replayed = [message for message in booker.consume(90, timeout=5) if message.timestamp()[1] >= since]

# %% tags=["wrong"]
# goes on from the group's place | nothing came
booker = lab.consumer({"group.id": bookers, "auto.offset.reset": "earliest"})
booker.subscribe([webclicks])
replayed = booker.consume(10, timeout=1)

# %% tags=["wrong"]
# keeps the values | should be a Message
booker = lab.consumer({"group.id": bookers})
booker.assign(booker.offsets_for_times([TopicPartition(webclicks, p, since) for p in range(3)], timeout=10))
replayed = [message.value() for message in booker.consume(10, timeout=10)]

# %% tags=["right"]
# told where to begin when the partitions come
booker = lab.consumer({"group.id": bookers})


def back(consumer, places):
    asked = [TopicPartition(webclicks, place.partition, since) for place in places]
    consumer.assign(consumer.offsets_for_times(asked, timeout=10))


booker.subscribe([webclicks], on_assign=back)
replayed = []
lab.wait_until(lambda: booker.assignment() or replayed.extend(booker.consume(1, 0.1)), what="partitions")
while messages := booker.consume(10, timeout=3):
    replayed += [message for message in messages if message.timestamp()[1] >= since]

# %% tags=["right"]
# reads everything and keeps what is young enough
booker = lab.consumer({"group.id": bookers})
booker.assign([TopicPartition(webclicks, p, 0) for p in range(3)])
replayed = [message for message in booker.consume(92, timeout=5) if message.timestamp()[1] >= since]

# %% tags=["nbval-check-output"]
lab.check.replayed_since(webclicks, since, replayed)

# %% [markdown]
# You can also set back the group itself, and start its programs again. `kafka-consumer-groups --reset-offsets` takes a time (`--to-datetime`) or a number of records (`--shift-by -100`). Without `--execute` it only shows what it would do. The group must be empty: close its members first. In a program the AdminClient's `alter_consumer_group_offsets` does the same.

# %% [markdown] covers="C031 D069 E060 E068"
# ### Exercise 6.7: Three that get nothing
#
# The topic `headlines` holds five records, and A, B and C get none of them. Ask `lab.why_empty` about each, and mend it: the same groups, no new topic. Read the five records of each into `got["A"]`, `got["B"]` and `got["C"]`, commit, and close what you have opened. The cell can be run again; it makes the three anew.

# %%
from IPython.display import display

from threebrokers.lab.scenarios import three_without_records

headlines, silent = three_without_records(lab)
for name, one in silent.items():
    print(f"{name}: group {one.config['group.id']}")
    display(lab.why_empty(one, headlines))

# TODO: let each of the three groups read the five records, into got["A"], got["B"] and got["C"]
# BEGIN SOLUTION
silent["A"].subscribe([f"^{lab.topic('head')}.*"])
silent["B"].seek(TopicPartition(headlines, 0, 5))
for one in lab.consumers():
    if one.config.get("group.id") == silent["C"].config["group.id"] and one is not silent["C"]:
        one.close()
got = {}
for name, one in silent.items():
    got[name] = one.consume(5, timeout=10)
    one.commit(asynchronous=False)
    one.close()
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Each answer of `why_empty` names a cause of another kind: what was asked for, where the group stands, who else is there. `lab.consumers()` lists the consumers that this notebook has made; `one.config["group.id"]` tells the group of each.
#
# </details>
# <details><summary>Another hint</summary>
#
# A pattern begins with `^`. `seek` takes a `TopicPartition` with an offset. A member that nobody polls holds up its whole group.
#
# </details>

# %% tags=["wrong"]
# waits longer | `got["A"]` is empty
got = {name: one.consume(5, timeout=0.5) for name, one in silent.items()}

# %% tags=["wrong"]
# new groups | the group of A has committed nothing
got = {}
for name in silent:
    one = lab.consumer({"group.id": lab.group(f"new-{name}-{token_hex(2)}"), "auto.offset.reset": "earliest"})
    one.subscribe([headlines])
    got[name] = one.consume(5, timeout=10)
    one.close()

# %% tags=["wrong"]
# C is left waiting | `got["C"]` is empty
silent["A"].subscribe([headlines])
silent["B"].seek(TopicPartition(headlines, 0, 5))
got = {name: one.consume(5, timeout=10 if name < "C" else 0.5) for name, one in silent.items()}
for one in (silent["A"], silent["B"]):
    one.close()

# %% tags=["wrong"]
# the values | should be a Message
got = {"A": ["headline 5"], "B": [], "C": []}

# %% tags=["right"]
# new consumers of the same groups, places committed by hand
for one in lab.consumers():
    if one.config.get("group.id") in {each.config["group.id"] for each in silent.values()}:
        one.close()
got = {}
for name, old in silent.items():
    one = lab.consumer({"group.id": old.config["group.id"], "auto.offset.reset": "earliest"})
    one.subscribe([headlines])
    got[name] = one.consume(5, timeout=10)
    one.close()

# %% tags=["nbval-check-output"]
lab.check.heard_again(headlines, silent, got)

# %% [markdown] covers="A138 D079 C031 E075" explains="offsets.retention.minutes"
# B's group had committed offset 3, and the records before offset 5 were deleted. Then `auto.offset.reset` decides, as for a new group: so an old group can jump to the end, and lose what is there. `earliest` loses nothing, and reads much again. With `error` (in Java's client `none`) `poll` returns an error instead, so that a person decides. The same happens to a group that nobody was in for seven days (`offsets.retention.minutes`): its offsets are forgotten.
#
# A pattern also takes topics that are made later. In the classic protocol the client sees them when it asks for metadata again (`topic.metadata.refresh.interval.ms`, 5 minutes); in the new one (lab 07) the coordinator looks by itself, and after some ten seconds the group has them. What was written before that is read from where `auto.offset.reset` says: `latest` leaves it out.

# %% [markdown] covers="D096 D097 D098 A158" explains="assign, seek"
# ### Without a group
#
# `assign` gives a consumer its partitions by hand, each with a place to begin; `seek` moves it to another place in a partition that it has. It joins no group: nobody shares with it, and nobody takes over when it dies. So it suits a program that needs *all* partitions at every start, a tool that looks up one record, or a framework with a plan of its own; Spark reads so. It may still commit, and must have a `group.id` for that; such offsets are forgotten seven days after the last commit, because its group has no member.
#
# Two places have names: `OFFSET_BEGINNING` and `OFFSET_END` (Java: `seekToBeginning`, `seekToEnd`).
#
# Here a consumer subscribes to a topic of three partitions, and when it has got them, `assign` gives it partition 0 alone. Each partition gets two records then.

# %%
guess_6e = lab.predict("6.e")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_6e.choose("2, and the group believes that all are read")
# END SOLUTION

# %%
both_ways = lab.fresh_topic("both-ways", partitions=3)
mixed_group = lab.group("both-ways")
mixed = lab.consumer({"group.id": mixed_group, "auto.offset.reset": "earliest"})
mixed.subscribe([both_ways])
lab.wait_until(lambda: mixed.poll(0.1) or mixed.assignment(), what="the partitions")
mixed.assign([TopicPartition(both_ways, 0)])
for number in range(6):
    producer.produce(both_ways, f"record {number}", partition=number % 3)
producer.flush()
arrived = mixed.consume(2, timeout=10) + mixed.consume(4, timeout=1)
came = {message.partition() for message in arrived}
member = lab.cluster.state([], [mixed_group]).groups[0].members[0]
print("read from partitions", sorted(came), "· the group says:", [p for _, p in member.partitions])
mixed.close()
known = {(1, 3): "2, and the group believes that all are read", (3, 3): "6"}
guess_6e.compare(known.get((len(came), len(member.partitions)), "an error"))

# %% [markdown]
# Java's client raises an error there. This one obeys, and the group waits for a member that does not read. So choose one of the two.
#
# A consumer with `assign` also does not notice that a topic gets more partitions:

# %%
from confluent_kafka.admin import NewPartitions

grown = lab.fresh_topic("grown")
fixed = lab.consumer({"group.id": lab.group("fixed"), "enable.auto.commit": False})
places = lab.cluster.state([grown]).topic(grown).partitions
fixed.assign([TopicPartition(p.topic, p.id, 0) for p in places])
lab.admin().create_partitions([NewPartitions(grown, 2)])[grown].result()
lab.wait_until(
    lambda: len(producer.list_topics(grown, timeout=5).topics[grown].partitions) == 2, what="both partitions"
)
for partition in (0, 1):
    producer.produce(grown, f"to partition {partition}", partition=partition)
producer.flush()
print([message.value() for message in fixed.consume(1, timeout=10) + fixed.consume(1, timeout=1)])
fixed.close()

# %% [markdown] covers="D170 D171" explains="retry topic, pause, resume"
# ### Later, not never
#
# Some records are good, only their time is bad: the bank is closed. There are two patterns beside the dead-letter topic.
#
# - **Wait in place.** Commit what is done, keep the rest in a list, `pause` the partitions, and go on polling: nothing comes from them, and the member stays in its group. Try again, and `resume` them when it works. Order is kept, and everything behind waits.
# - **A retry topic.** Write the record there, with a header that counts the attempts, and go on. Another consumer reads the retry topic, and sends what fails too often to the dead letters. Nothing waits, and order is lost.
#
# Here the bank is closed for payment 2 until the third attempt. First the teller waits in place:

# %%
from collections import Counter, deque

bank, attempts = lab.fresh_topic("bank"), Counter()
for number in range(5):
    producer.produce(bank, str(number))
producer.flush()


def closed(message):
    attempts[message.value()] += 1
    return message.value() == b"2" and attempts[b"2"] < 3


# %%
waiting = lab.consumer({**settings, "group.id": lab.group("tellers")})
waiting.subscribe([bank])
kept, done = deque(), []
attempts.clear()
while len(done) < 5:
    kept += [m for m in waiting.consume(5, timeout=0.2) if not m.error()]
    while kept and not closed(kept[0]):
        waiting.commit(message=kept[0], asynchronous=False)
        done.append(kept.popleft().value().decode())
    if kept:
        waiting.pause(waiting.assignment())
    else:
        waiting.resume(waiting.assignment())
waiting.close()
print("done in this order:", *done, "· attempts at payment 2:", attempts[b"2"])
lab.observed("Order was kept while the teller waited", done == sorted(done))

# %% [markdown]
# And now with a retry topic:

# %%
bank, retry = lab.fresh_topic("bank"), lab.fresh_topic("bank-retry")
for number in range(5):
    producer.produce(bank, str(number))
producer.flush()

teller = lab.consumer({**settings, "group.id": lab.group("tellers")})
teller.subscribe([bank, retry])
done, tried = [], []
while len(done) < 5:
    for message in [m for m in teller.consume(1, timeout=0.2) if not m.error()]:
        attempt = int(dict(message.headers() or []).get("attempt", b"1"))
        kept = [pair for pair in message.headers() or [] if pair[0] != "attempt"]
        tried.append((message.value().decode(), attempt))
        if message.value() == b"2" and attempt < 3:
            producer.produce(retry, message.value(), headers=[*kept, ("attempt", str(attempt + 1))])
            producer.flush()
        else:
            done.append(message.value().decode())
        teller.commit(message=message, asynchronous=False)
teller.close()
print("done in this order:", *done, "· attempts at payment 2:", [n for value, n in tried if value == "2"])

# %% [markdown] covers="B044 D167 A056"
# ### Many hands
#
# One record takes a second, and the partition has more than one each second. You have three ways:
#
# - **More partitions, and one consumer for each thread or process.** It is the simplest way: order and commits stay as they are.
# - **A pool of threads behind one consumer.** You have seen what it loses. It is right if the consumer commits only up to the first record that is *not* done, and if records of one key go to the same thread.
# - **A share group** (Kafka 4.2; this client's `ShareConsumer` is still a preview): members share the records of a partition, and acknowledge each by itself.
#
# Here is such a pool. Twenty records have four keys; each key has a thread of its own, and record 3 takes long. When all that need not wait is done, how far may the consumer commit?

# %%
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor

tasks, ready = lab.fresh_topic("bank"), threading.Event()
for number in range(20):
    producer.produce(tasks, str(number), key=str(number % 4))
producer.flush()


def work(message):
    if message.offset() == 3:
        ready.wait(20)


# %%
def commit_up_to_the_first_that_is_not_done():
    while under_way and under_way[0][1].done():
        crew.commit(message=under_way.popleft()[0], asynchronous=False)
    return crew.committed([TopicPartition(tasks, 0)], timeout=5)[0].offset


hands = [ThreadPoolExecutor(1) for _ in range(4)]  # one for each key
crew = lab.consumer({**settings, "group.id": lab.group("crew")})
crew.subscribe([tasks])
under_way = deque((m, hands[int(m.key())].submit(work, m)) for m in crew.consume(20, timeout=10))
results = [result for _, result in under_way]
lab.wait_until(lambda: sum(result.done() for result in results) == 15, what="the other three keys")
early = commit_up_to_the_first_that_is_not_done()
ready.set()
lab.wait_until(lambda: all(result.done() for result in results), what="the rest")
late_commit = commit_up_to_the_first_that_is_not_done()
crew.close()
print(f"position 20, done 15, committed {early}; when all are done, committed {late_commit}")
lab.observed("Nothing behind the record in work was committed", (early, late_commit) == (3, 20))

# %% [markdown]
# Fifteen records are done, and the group has committed 3. To commit the position, 20, would be the mistake of the worker *in a thread*: a crash now would lose record 3, and four behind it. The price is that twelve records come again. While the pool is full, `pause()` the partitions and go on polling, so that the group does not miss you.

# %% [markdown] covers="D075 D076 C029 D077 D121 E031 E063 E064 E066 E067 A133 B113 B114 A137 B090" explains="fetch.min.bytes, fetch.wait.max.ms, fetch.max.bytes, max.poll.records"
# ### How much at once?
#
# A consumer *pulls*: it asks when it has room, so a slow one falls behind and nothing breaks. The broker holds the request until there is enough, so an idle consumer does not ask all the time.
#
# | this client | Java | what it bounds | default |
# |---|---|---|---|
# | `fetch.min.bytes` | the same | the broker waits for so much … | 1 |
# | `fetch.wait.max.ms` | `fetch.max.wait.ms` | … and for so long at most | 500 ms |
# | `max.partition.fetch.bytes` | the same | one answer, for one partition | 1 MB |
# | `fetch.max.bytes` | the same | one answer | 50 MB |
# | `consume(n)` | `max.poll.records` | what the program gets at once | 1; Java 500 |
# | `queued.max.messages.kbytes`, `queued.min.messages` | | what waits in the client | 64 MB; 100,000 |
# | `timeout=` of each call | `default.api.timeout.ms` | one call | none; Java 60 s |
# | `socket.timeout.ms` | `request.timeout.ms` | one answer | 60 s; Java 30 s |
#
# The plain `Consumer` of confluent-kafka accepts `max.poll.records` and ignores it: `consume(n)` is what counts.
#
# For many small records raise `fetch.min.bytes`: the answers are fewer and larger, and a record may then wait up to `fetch.wait.max.ms`.
#
# The limits in bytes are soft: a batch that is larger comes all the same, alone. Twenty partitions for five consumers are 4 MB or more on their way to each, in the answers of all brokers, beside what waits in the client.

# %% [markdown]
# ### Errors that belong to no record
#
# A report tells what became of one record. Other errors belong to none: the client reaches no broker at all (`_ALL_BROKERS_DOWN`), or its password is refused (`_AUTHENTICATION`). For these you give a producer or a consumer a function, `error_cb`; the client calls it inside `poll()` or `flush()`. Most of them pass, and the client tries again by itself. Those with `error.fatal()` do not: make a new client.
#
# An exception that such a function raises comes out of that `poll()` or `flush()`. So let it note the error, and no more.

# %% [markdown] covers="B086 B097 B098 B100 B101 C025 D068 D070 E061"
# ### What is in a batch?
#
# A topic with 13 partitions gets 50 customers. Their keys are numbers of eight bytes, as Java's `LongSerializer` writes them, and the values are countries. Who reads them must know that: bytes do not tell what they mean. One group reads with `consume(5)`, another with `consume(500)`:

# %%
import struct
from collections import Counter

customers = lab.fresh_topic("customers-13", partitions=13)
for number in range(50):
    country = ("DE", "FR", "IN", "KE")[number % 4]
    producer.produce(customers, country, key=struct.pack(">q", number), partition=number * 7 % 13)
producer.flush()

for most in (5, 500):
    one = lab.consumer({"group.id": lab.group(f"batch-{most}"), "auto.offset.reset": "earliest"})
    one.subscribe([customers])
    batches = []
    while sum(map(len, batches)) < 50:
        batches.append(one.consume(most, timeout=0.5))
    one.close()
    found = [f"{len(b)} of {len({m.partition() for m in b})}" for b in batches if b]
    print(f"consume({most}): records of so many partitions:", ", ".join(found))

everything = [message for batch in batches for message in batch]
print("keys:", sorted(struct.unpack(">q", message.key())[0] for message in everything)[:5], "…")
print(dict(sorted(Counter(message.value().decode() for message in everything).items())))

# %% [markdown]
# `consume(5)` never returns more than five, of few partitions: the client asks each broker for all partitions that it leads, gets one large answer, and hands it out one partition after another; a partition has about four. `consume(500)` waits until it has 500 or its time is over, and holds records of all. So a batch is in order inside each partition only, and its size says nothing of what waits at the brokers.
#
# (Every consumer of this client needs a `group.id`, also one that never joins: without it `Consumer({…})` raises a `ValueError`.)

# %% [markdown] covers="B041 E076"
# ### Where the offsets are
#
# A commit is a record, too. Its topic is `__consumer_offsets`; the key is group, topic and partition, and the topic keeps the newest record of each key. Kafka's own console consumer can read it:

# %%
show = "org.apache.kafka.tools.consumer.OffsetsMessageFormatter"
options = ["--from-beginning", "--timeout-ms", "3000", "--formatter", show]
written = lab.cluster.tool("kafka-console-consumer", "--topic", "__consumer_offsets", *options)
commits = ['{"key"' + text for text in written.split('{"key"')[1:] if lab.group("readers") in text]
print(*commits[:1])

# %% [markdown]
# Compare with the [solution](../solutions/06_consumers.ipynb). Next lab: [Who gets what?](07_consumer_groups.ipynb)
