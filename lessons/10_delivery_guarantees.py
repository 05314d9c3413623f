# %% [markdown]
# # What can be lost, what can come twice?
#
# **You will** kill a leader that alone has your records, cut off its answers, keep a ledger of what each set-up loses and doubles, and write a consumer whose effect happens once, whatever comes.
#
# *{minutes} minutes, and {further} more if you go further. You need lab 04: ISR and election; lab 05: delivery reports, retries; and lab 06: committed offset.*

# %%
from threebrokers import open_lab

lab = open_lab("10")

# %% [markdown]
# Three questions from earlier labs, to see what is still there:

# %%
lab.review()

# %% [markdown] covers="A003 A004 A005 D149 D038" explains="exactly once"
# ## Three promises
#
# Lab 06 had two promises about one record: *at most once* and *at least once*. The third one is *exactly once*. Each fits something:
#
# - **At most once**: a page counts its visitors and sends each visit once. A few missing visits do no harm, so it does not try again.
# - **At least once**: an invoice is paid. That must not get lost; if the message comes twice, somebody must notice.
# - **Exactly once**: what everybody wants, and what nobody gets from one setting.
#
# Kafka's usual promise is at least once: producers try again, and a consumer that commits after its work reads again. (This client's automatic commits may lose records: lab 06.) It is a choice for each topic and each program: payments and visits may be on the same cluster.
#
# Which promise does a producer keep? Four set-ups. The first three differ in who must have a record before it is acknowledged: nobody (`acks=0`: the client only sends), the leader, or all replicas in sync. The fourth is `acks=all` with idempotence, which the second fault will explain.

# %%
SET_UPS = {
    "acks=0": {"acks": 0},
    "acks=1": {"acks": 1},
    "acks=all": {"acks": "all"},
    "idempotent": {"acks": "all", "enable.idempotence": True},
}

# %% [markdown]
# A **ledger** gives every record a number, and compares four things: what was *attempted*, what was *acknowledged* (or *failed*: the report was an error), what is *stored* in the log, and, in the second half, what was *delivered* to a consumer and *processed* by its program. Lost is what was acknowledged and is not stored. (With `acks=0` no broker acknowledges; the client reports a record as delivered when it has sent it, and the ledger notes that.)

# %% [markdown]
# ## Fault one: the leader dies, and it alone has them
#
# Each set-up sends 200 records to the same partition. Three replicas have the first 100. Then the leader is cut off from the other brokers; clients still reach it. It gets the last 100, acknowledges them if it may, and is killed. A follower becomes the leader, and the producers go on.
#
# The topic has `min.insync.replicas=2`. **Predict:** which set-ups lose records that were acknowledged, and which numbers will the ledger show?

# %%
guess_10a = lab.predict("10.a")
guess_10e = lab.predict("10.e")
# TODO: choose two answers: press their buttons
# BEGIN SOLUTION
guess_10a.choose("acks=0 and acks=1")
guess_10e.choose("200/100, 200/100, 200/200, 200/200")
# END SOLUTION

# %%
from threebrokers.lab.scenarios import killed_leader

killed = killed_leader(lab, SET_UPS)
killed.beside(guess_10e.chosen)

# %%
guess_10a.compare(killed.names("lost"))
guess_10e.compare(killed.numbers)

# %% [markdown] covers="A108 A109 B152 D155 B014 D146 E040"
# - `acks=0`: a record counts as delivered when the client has sent it. No broker tells it the offset (in the report `offset()` is `None`; in Java it is -1). It is the fastest, and it does not learn what becomes of a record after that. (While no leader is known nothing can be sent, and then a record times out with `acks=0`, too.)
# - `acks=1`: the leader has written it, and answers. If it dies before a follower has fetched the record, the record is gone, although it was acknowledged. (The split brain of [lab 04](04_broker_failover.ipynb) began with the same cut, and ended with the same loss.) Before Kafka 3 this was the default of Java's producer (KIP-679).
# - `acks=all`: the leader waits until every replica in sync has it, so the slowest of them sets the time. The request waits on the leader meanwhile, in what Kafka calls *purgatory*. The leader died, no answer came, and the producer sent the records to the next one.
#
# So Kafka's promise is about records that all replicas in sync have (books call them *committed*). They survive as long as one of these replicas is always there (without one the partition waits, unless an unclean election is allowed: lab 04), and consumers see no others; and while fewer replicas are in sync than `min.insync.replicas` says, no record becomes readable (lab 03). With `acks=0` and `acks=1` you hear "acknowledged" before that.

# %% [markdown]
# ### Exercise 10.1: Acknowledged, and gone
#
# A producer with `acks=1` has lost payments, and another producer has written to the same partition before and after. Explain this loss:
#
# - `lost_offsets`: a list of the offsets that the lost payments had.
# - `now_there`: at how many of these offsets is there a record now?
# - `had_them`: who had the lost payments when they were acknowledged: `"all"`, `"followers"`, `"leader"` or `"nobody"`?
#
# `balance.lost` is a list of entries, each with a `number`, a `partition` and an `offset`. Each record that `read_log` returns has an `offset`, too.

# %%
from threebrokers.kafka.log_reader import read_log
from threebrokers.lab.scenarios import acknowledged_and_gone

gone = acknowledged_and_gone(lab)
balance = gone.ledger.balance(gone.topic)
balance

# %%
# TODO: set `lost_offsets`, `now_there` and `had_them`
# BEGIN SOLUTION
lost_offsets = [entry.offset for entry in balance.lost]
now_there = sum(record.offset in lost_offsets for record in read_log(lab.bootstrap, gone.topic))
had_them = "leader"
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Who told the producer the offsets of its payments? And what does the next leader do with an offset that it has never given to a record?
#
# </details>
# <details><summary>Another hint</summary>
#
# `[entry.offset for entry in balance.lost]`; then count the records of `read_log(lab.bootstrap, gone.topic)` whose `offset` is in that list.
#
# </details>

# %% tags=["wrong"]
# looks behind the end of the log | where the log ends now
there = read_log(lab.bootstrap, gone.topic)
lost_offsets = list(range(len(there), len(there) + len(balance.lost)))
now_there, had_them = 0, "leader"

# %% tags=["wrong"]
# takes the numbers of the ledger | holds the numbers that the ledger
lost_offsets = [entry.number.sequence for entry in balance.lost]
now_there, had_them = 0, "leader"

# %% tags=["wrong"]
# takes all that was acknowledged | are not those of lost records
lost_offsets = [entry.offset for entry in balance.acknowledged]
now_there, had_them = 0, "leader"

# %% tags=["wrong"]
# forgets the last one | of them right
lost_offsets = [entry.offset for entry in balance.lost][:-1]
now_there, had_them = 0, "leader"

# %% tags=["wrong"]
# believes that an offset stays empty | as if an offset stayed empty
lost_offsets = [entry.offset for entry in balance.lost]
now_there, had_them = 0, "leader"

# %% tags=["wrong"]
# believes that all are used again | and the log ends before the last
lost_offsets = [entry.offset for entry in balance.lost]
now_there, had_them = len(lost_offsets), "leader"

# %% tags=["wrong"]
# believes that three had them | then one of the two others would still have them
lost_offsets = [entry.offset for entry in balance.lost]
now_there = sum(record.offset in lost_offsets for record in read_log(lab.bootstrap, gone.topic))
had_them = "all"

# %% tags=["wrong"]
# believes that nobody had them | so it may be with acks=0
lost_offsets = [entry.offset for entry in balance.lost]
now_there = sum(record.offset in lost_offsets for record in read_log(lab.bootstrap, gone.topic))
had_them = "nobody"

# %% tags=["right"]
# by the numbers that are not stored
stored = {entry.number for entry in balance.stored}
lost_offsets = [entry.offset for entry in balance.acknowledged if entry.number not in stored]
end = max(record.offset for record in read_log(lab.bootstrap, gone.topic)) + 1
now_there = end - min(lost_offsets)
had_them = "Leader"

# %% tags=["nbval-check-output"]
lab.check.lost_explained(gone, lost_offsets, now_there, had_them)

# %% [markdown]
# The log has no gap and is shorter than it was, and no consumer can see that something is missing. Only somebody who has counted knows it.

# %% [markdown]
# ### Exercise 10.2: Nothing lost
#
# A shop lost orders, and set everything that sounded safe:
#
# ```python
# settings = {"acks": 1, "retries": 5}
# config = {"min.insync.replicas": "2"}
# ```
#
# Change as little as you can: the same kill must take nothing that was acknowledged, and all 200 records shall be acknowledged in the end, although one broker stays down. `killed_leader` takes the topic's settings, too. (It adds `linger.ms` 200, so that 100 records travel together, and gives up after 15 s.)
#
# Then set `kept_because`, the reason why your change helps. Of the last 100 records …
#
# - `"copied"`: the followers got a copy just before the kill;
# - `"refused"`: the leader refused them, because too few replicas were in sync;
# - `"waited"`: the leader acknowledged none of them, and the producer sent them again, to the next leader;
# - `"recovered"`: the new leader took them from the killed broker's disk.

# %%
# TODO: set `settings`, `config`, `kept` = killed_leader(lab, {"mine": settings}, config), and `kept_because`
# BEGIN SOLUTION
settings = {"acks": "all", "retries": 5}
config = {"min.insync.replicas": "2"}
kept = killed_leader(lab, {"mine": settings}, config)
kept_because = "waited"
# END SOLUTION
kept

# %% [markdown]
# <details><summary>Hint</summary>
#
# Who acknowledged the records that were lost? Which of the three settings says who must have a record before that?
#
# </details>
# <details><summary>Another hint</summary>
#
# `min.insync.replicas` says when a request with a certain value of `acks` is refused; other requests never ask for it. And while a broker is down, how many replicas are in sync?
#
# </details>

# %% tags=["wrong"]
# leaves it as it is | asks the leader and nobody else
settings = {"acks": 1, "retries": 5}
config = {"min.insync.replicas": "2"}
kept = killed_leader(lab, {"mine": settings}, config)
kept_because = "waited"

# %% tags=["wrong", "raises-exception"]
# asks for two | the brokers know only 0, 1 and all
settings = {"acks": 2, "retries": 5}
config = {"min.insync.replicas": "2"}
kept = killed_leader(lab, {"mine": settings}, config)
kept_because = "waited"

# %% tags=["wrong"]
# asks for all three replicas, with acks=1 | only requests with acks=all are refused because of it
settings = {"acks": 1, "retries": 5}
config = {"min.insync.replicas": "3"}
kept = killed_leader(lab, {"mine": settings}, config)
kept_because = "waited"

# %% tags=["wrong"]
# retries more | more retries change nothing
settings = {"acks": 1, "retries": 1_000_000}
config = {"min.insync.replicas": "2"}
kept = killed_leader(lab, {"mine": settings}, config)
kept_because = "waited"

# %% tags=["wrong"]
# sends one request after the other | is slower, and each is acknowledged
settings = {"acks": 1, "retries": 5, "max.in.flight.requests.per.connection": 1}
config = {"min.insync.replicas": "2"}
kept = killed_leader(lab, {"mine": settings}, config)
kept_because = "waited"

# %% tags=["wrong"]
# does not ask at all | are lost and reported as delivered
settings = {"acks": 0}
config = {"min.insync.replicas": "2"}
kept = killed_leader(lab, {"mine": settings}, config)
kept_because = "waited"

# %% tags=["wrong"]
# wants all three always | nobody may write
settings = {"acks": "all", "retries": 5}
config = {"min.insync.replicas": "3"}
kept = killed_leader(lab, {"mine": settings}, config)
kept_because = "waited"

# %% tags=["wrong"]
# is content with one | when both followers have left the ISR
settings = {"acks": "all", "retries": 5}
config = {"min.insync.replicas": "1"}
kept = killed_leader(lab, {"mine": settings}, config)
kept_because = "waited"

# %% tags=["wrong"]
# does not try again | failed at the first try
settings = {"acks": "all", "retries": 0}
config = {"min.insync.replicas": "2"}
kept = killed_leader(lab, {"mine": settings}, config)
kept_because = "waited"

# %% tags=["wrong"]
# shows the table above | the result of an earlier try
kept = killed
kept_because = "waited"

# %% tags=["wrong"]
# believes that followers were quick enough | no follower could fetch
settings = {"acks": "all", "retries": 5}
config = {"min.insync.replicas": "2"}
kept = killed_leader(lab, {"mine": settings}, config)
kept_because = "copied"

# %% tags=["wrong"]
# believes that the leader refused | all three still were
settings = {"acks": "all", "retries": 5}
config = {"min.insync.replicas": "2"}
kept = killed_leader(lab, {"mine": settings}, config)
kept_because = "refused"

# %% tags=["wrong"]
# believes that the dead broker's disk was read | the killed broker stays down
settings = {"acks": "all", "retries": 5}
config = {"min.insync.replicas": "2"}
kept = killed_leader(lab, {"mine": settings}, config)
kept_because = "recovered"

# %% tags=["right"]
# idempotent, too, and the number for acks
settings = {"acks": -1, "enable.idempotence": True}
config = {}
kept = killed_leader(lab, {"orders": settings}, config)
kept_because = "waited"

# %% tags=["right"]
# the client's own defaults
settings = {}
config = {"min.insync.replicas": 2}
kept = killed_leader(lab, {"mine": settings}, config)
kept_because = "waited"

# %% tags=["nbval-check-output"]
lab.check.nothing_lost(kept, kept_because)

# %% [markdown] covers="D157"
# `acks=all` alone does not save a program that ignores its delivery reports: what fails in the end must be sent again or written down by *you* (lab 05). So it takes three things: the right `acks`, patience that is longer than an election, and code that looks at every report.

# %% [markdown]
# ## 1, 2 or 3 in a rolling restart
#
# Three topics with three replicas have `min.insync.replicas` 1, 2 and 3. Each gets 20 numbered records a second with `acks=all`, and all three brokers are restarted: each is stopped and started in turn, the next one when all replicas are in sync again.
#
# **Predict:** which topics refuse records meanwhile, and which lose some that were acknowledged?

# %%
guess_10d = lab.predict("10.d")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_10d.choose("refused: 3; lost: none")
# END SOLUTION

# %%
from threebrokers.lab.scenarios import rolling_restart

restarts = rolling_restart(lab, leasts=[1, 2, 3])
refused, lost = (restarts.index[restarts[of] > 0] for of in ("NOT_ENOUGH_REPLICAS", "lost"))
refusers, losers = (" and ".join(map(str, found)) or "none" for found in (refused, lost))
guess_10d.compare(f"refused: {refusers}; lost: {losers}")
restarts

# %% [markdown]
# Nothing was lost: a broker that stops cleanly hands over what it leads, and both others have every record that was acknowledged. (*Other errors*, if there are any: the broker that stopped took a connection with it. A client that tries again hides these errors, and only the pause is left, in which it looks for the next leader; `retries=0` shows them.) So which one?
#
# - **1**, for what may get lost: writing goes on in every restart, and also if a second replica falls behind meanwhile; but then the leader alone acknowledges (exercise 10.5), and if its disk is lost, these records are gone.
# - **2**, for data that count: writing goes on in every restart, and whatever is acknowledged is on two brokers.
# - **3**, only if it is better to stand still than to have two copies: each restart is a pause for every producer.

# %% [markdown] covers="B119"
# ## Fault two: the answer gets lost
#
# No broker fails now. The leader stores the last 100 records of each set-up, its followers copy them, it answers, and the connection breaks while the answer is on its way. What does a producer know now? Only that no answer came. The record may be stored or not; from outside both look the same.
#
# **Predict:** which set-ups have records in the log twice, and which numbers will the ledger show?

# %%
guess_10b = lab.predict("10.b")
guess_10f = lab.predict("10.f")
# TODO: choose two answers: press their buttons
# BEGIN SOLUTION
guess_10b.choose("acks=1 and acks=all")
guess_10f.choose("200/200, 200/300, 200/300, 200/200")
# END SOLUTION

# %%
from threebrokers.lab.scenarios import lost_answers

unheard = lost_answers(lab, SET_UPS)
unheard.beside(guess_10f.chosen)

# %%
guess_10b.compare(unheard.names("duplicated"))
guess_10f.compare(unheard.numbers)

# %% [markdown] covers="E046 E118" explains="idempotence, producer id, sequence number"
# `acks=1` and `acks=all` sent again what was stored: safer against loss means open to doubles. `acks=0` expected no answer, so it sent nothing again.
#
# With **idempotence** the brokers can tell. A producer gets a **producer id** when it starts, and gives each record a **sequence number** for its partition. The leader remembers the last five batches of each producer id. What it has already, it acknowledges and does not store. Here are the batches of all four set-ups in the log, with these numbers:

# %%
from threebrokers.lab.scenarios import numbered_batches

numbered_batches(lab, lab.topic("lost-answers"))

# %% [markdown] covers="A102 E047 E119"
# One producer alone has numbers. Its 100–199 came twice, and stand there once; the batches at the end were sent again by producers without numbers. As the numbers are in the log, followers have them, and the next leader knows them at once.
#
# So it needs `acks=all`, retries, and at most five requests on their way.
#
# Java's producer is idempotent unless told otherwise (since Kafka 3), and `acks=1` alone switches that off, with no more than a line in its log; beside `enable.idempotence=true` it is refused. This client is not: set `enable.idempotence` in every producer that must not double.

# %% [markdown]
# ### Exercise 10.3: Nothing twice
#
# This producer doubles records when an answer gets lost: `settings = {"acks": "all"}`. Change as little as you can. Each record shall be acknowledged, and stored once.
#
# Then set `once_because`, the reason why the log holds each record once:
#
# - `"compared"`: the leader compared their values with those in the log;
# - `"known"`: the leader knew the batch by the numbers that the producer gave to it;
# - `"sent once"`: the producer did not send them again;
# - `"cleaned"`: the second copies were deleted from the log.

# %%
# TODO: set `settings`, `once` = lost_answers(lab, {"mine": settings}), and `once_because`
# BEGIN SOLUTION
settings = {"acks": "all", "enable.idempotence": True}
once = lost_answers(lab, {"mine": settings})
once_because = "known"
# END SOLUTION
once

# %% [markdown]
# <details><summary>Hint</summary>
#
# The producer must send again: it cannot know better. Who could notice that it is the same record, and by what?
#
# </details>
# <details><summary>Another hint</summary>
#
# `enable.idempotence`. It refuses values of other settings that would break its promise; the error names them.
#
# </details>

# %% tags=["wrong"]
# leaves it as it is | took them for new ones
settings = {"acks": "all"}
once = lost_answers(lab, {"mine": settings})
once_because = "known"

# %% tags=["wrong"]
# does not try again | a program that believes its reports
settings = {"acks": "all", "retries": 0}
once = lost_answers(lab, {"mine": settings})
once_because = "known"

# %% tags=["wrong"]
# one request at a time | keeps the order, and the same request
settings = {"acks": "all", "max.in.flight.requests.per.connection": 1}
once = lost_answers(lab, {"mine": settings})
once_because = "known"

# %% tags=["wrong"]
# waits longer | no time was over
settings = {"acks": "all", "request.timeout.ms": 60_000}
once = lost_answers(lab, {"mine": settings})
once_because = "known"

# %% tags=["wrong"]
# asks fewer | the answer comes sooner
settings = {"acks": 1}
once = lost_answers(lab, {"mine": settings})
once_because = "known"

# %% tags=["wrong"]
# asks nobody | so nobody would hear of a loss
settings = {"acks": 0}
once = lost_answers(lab, {"mine": settings})
once_because = "known"

# %% tags=["wrong", "raises-exception"]
# idempotence with acks=1 | The client refuses the settings of 'mine'
settings = {"acks": 1, "enable.idempotence": True}
once = lost_answers(lab, {"mine": settings})
once_because = "known"

# %% tags=["wrong"]
# believes that values are compared | compares no values
settings = {"enable.idempotence": True}
once = lost_answers(lab, {"mine": settings})
once_because = "compared"

# %% tags=["wrong"]
# believes that it was not sent again | sent these 100 again
settings = {"enable.idempotence": True}
once = lost_answers(lab, {"mine": settings})
once_because = "sent once"

# %% tags=["wrong"]
# believes that the second copy was deleted | was never in the log
settings = {"enable.idempotence": True}
once = lost_answers(lab, {"mine": settings})
once_because = "cleaned"

# %% tags=["right"]
# nothing but idempotence
settings = {"enable.idempotence": True}
once = lost_answers(lab, {"mine": settings})
once_because = "known"

# %% tags=["right"]
# with everything that it needs, as text
settings = {"enable.idempotence": "true", "acks": "-1", "max.in.flight": 5, "retries": 1000}
once = lost_answers(lab, {"orders": settings})
once_because = "known"

# %% tags=["nbval-check-output"]
lab.check.nothing_twice(once, once_because)

# %% [markdown]
# ## The program starts again
#
# A program makes a producer and sends orders 0 to 9. All ten are acknowledged. Before it can note that, it crashes. It is started again, with a new producer, and begins where its notes end: at order 0. Each set-up does so. **Predict:** how many records of the idempotent one does the topic hold?

# %%
guess_10c = lab.predict("10.c")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_10c.choose("20")
# END SOLUTION

# %%
restarted = lab.fresh_topic("restarted", replication_factor=3)
for set_up in [*SET_UPS, *SET_UPS]:  # the first life of each, then the second one
    producer = lab.producer(SET_UPS[set_up])
    for order in range(10):
        producer.produce(restarted, key=set_up, value=f"order {order}")
    producer.flush()
keys = [record.key.decode() for record in read_log(lab.bootstrap, restarted)]
print({set_up: keys.count(set_up) for set_up in SET_UPS})
guess_10c.compare(str(keys.count("idempotent")))
numbered_batches(lab, restarted)

# %% [markdown] covers="A103 E120 D159 D160"
# The second life has a new id, and its numbers begin at 0 again. The same holds for two producers that send the same order, for a program that calls `produce()` twice, and for a customer who presses the button again. Idempotence covers the retries of *one* producer in *one* life.
#
# So records can always come twice. Two cures:
#
# - **A number of the business**: the order's own number is in the record, and the receiver looks at it.
# - **A transaction**: where input and output are both in Kafka, what was read and what was written become one thing ([lab 11](11_transactions.ipynb)).

# %% [markdown] covers="A161 B040 B117 C033 C041 D165"
# ## The other end
#
# A consumer has the same choice, with the order of two lines (lab 06): *commit, then work* loses what was in work when it dies; *work, then commit* does it again. In Java as in Python: if a program crashes after the work on record 100 and before its commit, record 100 comes again.
#
# Nothing can close this gap from Kafka's side, for the work is elsewhere: a row, an e-mail, a machine. But a worker may read an order twice and still write *one* invoice.

# %% [markdown] covers="D163 D164"
# ### Exercise 10.4: Once, whatever comes
#
# Another shop has sent 40 orders. Its program crashed, too, and sent ten of them again, so these are in the topic twice. Your worker is killed in five places: before the first, second, third, fourth and fifth thing that it tells its database or the brokers after `orders.invoice(message)`. If it writes a row and then commits the offset, these are `BEGIN`, `INSERT` and `COMMIT` in the database, the commit in the brokers, and the next order's `BEGIN`.
#
# Each order shall have one row in the table `invoices`, which has a column `order_number`. `orders.invoice(message)` returns the values `(order_number, euros)`. `orders.topic` is the topic with the orders. `with database:` is a transaction. Commit in the brokers what is done. Make the table yourself, with `CREATE TABLE IF NOT EXISTS`.

# %%
# %%program biller
from threebrokers.lab.orders import PaidOrders

orders = PaidOrders(lab)
database = orders.database()
# TODO: make the consumer and the table, then read, write and commit, in a loop without an end
# BEGIN SOLUTION
consumer = orders.consumer({"enable.auto.commit": False})
consumer.subscribe([orders.topic])
database.execute("CREATE TABLE IF NOT EXISTS invoices (order_number INTEGER PRIMARY KEY, euros INTEGER)")
while True:
    message = consumer.poll(0.2)
    if message is not None:
        with database:
            database.execute("INSERT OR IGNORE INTO invoices VALUES (?, ?)", orders.invoice(message))
        consumer.commit(message=message, asynchronous=False)
# END SOLUTION

# %%
from threebrokers.lab.scenarios import killed_in_five_places

lab.cluster.recover()
books = killed_in_five_places(lab, "biller")
books

# %% [markdown]
# <details><summary>Hint</summary>
#
# What is the same in both records of an order, and survives the death of the program? Who could refuse a second row?
#
# </details>
# <details><summary>Another hint</summary>
#
# A column can be a `PRIMARY KEY`. `INSERT OR IGNORE` overlooks a row whose key is there already. And in which order should row and commit come?
#
# </details>

# %% tags=["wrong"]
# a table without a key | nothing in the table keeps out
consumer = orders.consumer({"enable.auto.commit": False})
consumer.subscribe([orders.topic])
database.execute("CREATE TABLE IF NOT EXISTS invoices (order_number INTEGER, euros INTEGER)")
while True:
    message = consumer.poll(0.2)
    if message is not None:
        with database:
            database.execute("INSERT INTO invoices VALUES (?, ?)", orders.invoice(message))
        consumer.commit(message=message, asynchronous=False)

# %% tags=["wrong"]
# remembers in memory | died with it
seen = set()
consumer = orders.consumer({"enable.auto.commit": False})
consumer.subscribe([orders.topic])
database.execute("CREATE TABLE IF NOT EXISTS invoices (order_number INTEGER, euros INTEGER)")
while True:
    message = consumer.poll(0.2)
    if message is not None:
        if message.value() not in seen:
            with database:
                database.execute("INSERT INTO invoices VALUES (?, ?)", orders.invoice(message))
            seen.add(message.value())
        consumer.commit(message=message, asynchronous=False)

# %% tags=["wrong"]
# marks before the effect | the mark was committed before the effect
consumer = orders.consumer({"enable.auto.commit": False})
consumer.subscribe([orders.topic])
database.execute("CREATE TABLE IF NOT EXISTS invoices (order_number INTEGER, euros INTEGER)")
database.execute("CREATE TABLE IF NOT EXISTS done (order_number INTEGER PRIMARY KEY)")
while True:
    message = consumer.poll(0.2)
    if message is not None:
        with database:
            mark = database.execute("INSERT OR IGNORE INTO done VALUES (?)", [int(message.value())])
        if mark.rowcount:
            with database:
                database.execute("INSERT INTO invoices VALUES (?, ?)", orders.invoice(message))
        consumer.commit(message=message, asynchronous=False)

# %% tags=["wrong"]
# knows records by their offset | the key is a place in the log
consumer = orders.consumer({"enable.auto.commit": False})
consumer.subscribe([orders.topic])
columns = "order_number INTEGER, euros INTEGER, record_offset INTEGER PRIMARY KEY"
database.execute(f"CREATE TABLE IF NOT EXISTS invoices ({columns})")
while True:
    message = consumer.poll(0.2)
    if message is not None:
        row = *orders.invoice(message), message.offset()
        with database:
            database.execute("INSERT OR IGNORE INTO invoices VALUES (?, ?, ?)", row)
        consumer.commit(message=message, asynchronous=False)

# %% tags=["wrong"]
# a key that is only a count of rows | no key of your tables keeps out the second record
consumer = orders.consumer({"enable.auto.commit": False})
consumer.subscribe([orders.topic])
columns = "id INTEGER PRIMARY KEY, order_number INTEGER, euros INTEGER, record_offset INTEGER"
database.execute(f"CREATE TABLE IF NOT EXISTS invoices ({columns})")
while True:
    message = consumer.poll(0.2)
    if message is not None:
        row = *orders.invoice(message), message.offset()
        with database:
            database.execute("INSERT INTO invoices VALUES (NULL, ?, ?, ?)", row)
        consumer.commit(message=message, asynchronous=False)

# %% tags=["wrong"]
# commits the offset first | the offset was committed before
consumer = orders.consumer({"enable.auto.commit": False})
consumer.subscribe([orders.topic])
database.execute("CREATE TABLE IF NOT EXISTS invoices (order_number INTEGER PRIMARY KEY, euros INTEGER)")
while True:
    message = consumer.poll(0.2)
    if message is not None:
        consumer.commit(message=message, asynchronous=False)
        with database:
            database.execute("INSERT OR IGNORE INTO invoices VALUES (?, ?)", orders.invoice(message))

# %% tags=["wrong"]
# leaves the commits to the client | commits by itself, in the background
consumer = orders.consumer()
consumer.subscribe([orders.topic])
database.execute("CREATE TABLE IF NOT EXISTS invoices (order_number INTEGER PRIMARY KEY, euros INTEGER)")
while True:
    message = consumer.poll(0.2)
    if message is not None:
        with database:
            database.execute("INSERT OR IGNORE INTO invoices VALUES (?, ?)", orders.invoice(message))

# %% tags=["wrong"]
# commits nothing in the brokers | the group has committed nothing
consumer = orders.consumer({"enable.auto.commit": False})
consumer.subscribe([orders.topic])
database.execute("CREATE TABLE IF NOT EXISTS invoices (order_number INTEGER PRIMARY KEY, euros INTEGER)")
while True:
    message = consumer.poll(0.2)
    if message is not None:
        with database:
            database.execute("INSERT OR IGNORE INTO invoices VALUES (?, ?)", orders.invoice(message))

# %% tags=["right"]
# mark and invoice in one transaction
consumer = orders.consumer({"enable.auto.commit": False})
consumer.subscribe([orders.topic])
database.execute("CREATE TABLE IF NOT EXISTS invoices (order_number INTEGER, euros INTEGER)")
database.execute("CREATE TABLE IF NOT EXISTS done (order_number INTEGER UNIQUE)")
while True:
    message = consumer.poll(0.2)
    if message is not None:
        with database:
            mark = database.execute("INSERT OR IGNORE INTO done VALUES (?)", [int(message.value())])
            if mark.rowcount:
                database.execute("INSERT INTO invoices VALUES (?, ?)", orders.invoice(message))
        consumer.commit(message=message, asynchronous=False)

# %% tags=["right"]
# the number as text
consumer = orders.consumer({"enable.auto.commit": False})
consumer.subscribe([orders.topic])
database.execute("CREATE TABLE IF NOT EXISTS invoices (order_number TEXT PRIMARY KEY, euros INTEGER)")
while True:
    message = consumer.poll(0.2)
    if message is not None:
        with database:
            database.execute("INSERT OR IGNORE INTO invoices VALUES (?, ?)", orders.invoice(message))
        consumer.commit(message=message, asynchronous=False)

# %% tags=["right"]
# ten orders in one transaction, looked up by number first
consumer = orders.consumer({"enable.auto.commit": False})
consumer.subscribe([orders.topic])
database.execute("CREATE TABLE IF NOT EXISTS invoices (order_number INTEGER, euros INTEGER)")
while True:
    messages = consumer.consume(10, timeout=0.2)
    with database:
        for message in messages:
            row = orders.invoice(message)
            query = "SELECT count(*) FROM invoices WHERE order_number = ?"
            if database.execute(query, row[:1]).fetchone() == (0,):
                database.execute("INSERT INTO invoices VALUES (?, ?)", row)
    if messages:
        consumer.commit(message=messages[-1], asynchronous=False)

# %% tags=["nbval-check-output"]
lab.check.effect_once(books)

# %% [markdown] explains="effectively once, idempotent"
# That is often called **effectively once**: records may come as often as they like, and the effect happens once. Such a consumer is **idempotent**, too: to do the same again changes nothing. It works against every double of this lab, also against those of the shop. Offsets in the same database (lab 06) work against kills only: the shop's second record of an order has an offset of its own.
#
# If the effect is not in a database, give the number to whoever does it. Many payment services take such a key and do the same payment once.

# %% [markdown]
# ## Here and in production
#
# | | here | default |
# |---|---|---|
# | followers that fetch nothing are out after (`replica.lag.time.max.ms`) | 4 s | 30 s |
# | a dead broker is noticed after (`broker.session.timeout.ms`) | 1.7 s | 9 s |
# | a producer gives up after (`message.timeout.ms`) | 15 s | 5 min |
# | records wait for others (`linger.ms`) | 200 ms in both faults | 5 ms |
# | an idempotent producer gets its ID | as soon as it is made; the lab sees to it | 500 ms later, and its first record waits ([facts](../docs/facts.md)) |
# | an answer is on its way for | 4 s in the second fault | milliseconds |
# | the leader alone has records | made certain: it is cut off first | for milliseconds, at each record |
#
# So in production a kill of the leader takes with it what its followers have not fetched yet: often nothing, more with many records a second, and much when a follower lags, or when the leader was cut off before. It is the same gap.

# %% [markdown]
# ## What to remember
#
# - Lost: with `acks=0` and `acks=1` you hear "acknowledged" before a second broker has the record. `acks=all` waits for all that are in sync.
# - Twice: who tries again may double. Idempotence knows the retries of one producer in one life; only a number of the business knows an order that is sent twice.
# - A promise about an effect is kept where the effect is: work, then commit, and let a key keep out the second time.

# %% [markdown]
# ## Quiz
#
# Each answer is explained when you have chosen it. The first one is kept with your progress, on this machine.

# %%
lab.quiz()

# %% [markdown]
# ## Going further

# %% [markdown]
# ### Exercise 10.5: A leader that is alone
#
# `acks=all` waits for all replicas *in sync*. What if that is one? `leader_alone(lab)` makes two topics, `alone.loose` with `min.insync.replicas=1` and `alone.strict` with 2. Both have three replicas, and two of them can fetch nothing any more. (A follower that lacks nothing stays in the ISR. So a producer with `acks=1` has written offset 0, which only the leader has. After `replica.lag.time.max.ms`, here 4 s, the followers are out.)
#
# Write one record with `acks=all` to each, and wait no longer than some seconds for its report. Then set two dictionaries with both topics as keys: `acknowledged` (`True` or `False`) and `copies`, how many brokers have your record. `partition_of(lab, topic).log_end_offsets` is a tuple of pairs: a broker, and the end of its own replica. (`Told()` is a dictionary for what the reports say, by topic.)

# %%
from threebrokers.lab.scenarios import Told, leader_alone, partition_of

alone, told = leader_alone(lab), Told()
print({topic: partition_of(lab, topic).log_end_offsets for topic in (alone.loose, alone.strict)})
# TODO: write a record to each topic; set `acknowledged` and `copies`
# BEGIN SOLUTION
patience = {"acks": "all", "message.timeout.ms": 3000}
producer = lab.producer(
    {**patience, "on_delivery": lambda error, message: told.update({message.topic(): error})}
)
for topic in (alone.loose, alone.strict):
    producer.produce(topic, "one record")
producer.flush()
acknowledged = {topic: error is None for topic, error in told.items()}
ends = {topic: dict(partition_of(lab, topic).log_end_offsets) for topic in told}
copies = {topic: sum(end > 1 for end in ends[topic].values()) for topic in told}
# END SOLUTION
print(acknowledged, copies)

# %% [markdown]
# <details><summary>Hint</summary>
#
# How many replicas are in sync now? Which of the two topics says that this is too few?
#
# </details>
# <details><summary>Another hint</summary>
#
# `message.timeout.ms` bounds how long a refused record is tried. A replica that has your record ends at 2 or later, for your first one is at offset 1.
#
# </details>

# %% tags=["wrong"]
# takes "all" for all three | no promise of three
sender = lab.producer({"acks": "all", "message.timeout.ms": 3000})
for topic in (alone.loose, alone.strict):
    sender.produce(topic, "one record")
sender.flush()
acknowledged = {alone.loose: True, alone.strict: False}
copies = {alone.loose: 3, alone.strict: 0}

# %% tags=["wrong"]
# writes with acks=1 | acks=all would have been refused
sender = lab.producer({"acks": 1, "message.timeout.ms": 3000})
for topic in (alone.loose, alone.strict):
    sender.produce(topic, "one record")
sender.flush()
acknowledged = {alone.loose: True, alone.strict: True}
copies = {alone.loose: 1, alone.strict: 1}

# %% tags=["wrong"]
# believes that both are refused | asks those that are in sync
sender = lab.producer({"acks": "all", "message.timeout.ms": 3000})
for topic in (alone.loose, alone.strict):
    sender.produce(topic, "one record")
sender.flush()
acknowledged = {alone.loose: False, alone.strict: False}
copies = {alone.loose: 0, alone.strict: 0}

# %% tags=["wrong"]
# counts what was there before | at offset 0, a record of an earlier producer
sender = lab.producer({"acks": "all", "message.timeout.ms": 3000})
for topic in (alone.loose, alone.strict):
    sender.produce(topic, "one record")
sender.flush()
acknowledged = {alone.loose: True, alone.strict: False}
ends = {topic: dict(partition_of(lab, topic).log_end_offsets) for topic in acknowledged}
copies = {topic: sum(end > 0 for end in ends[topic].values()) for topic in acknowledged}

# %% tags=["wrong"]
# gives the errors of the reports | is the error of its report
sender = lab.producer(
    {**patience, "on_delivery": lambda error, message: told.update({message.topic(): error})}
)
for topic in (alone.loose, alone.strict):
    sender.produce(topic, "one record")
sender.flush()
acknowledged = dict(told)
copies = {alone.loose: 1, alone.strict: 0}

# %% tags=["wrong"]
# only thinks | these answers come from no experiment
acknowledged = {alone.loose: True, alone.strict: False}
copies = {alone.loose: 1, alone.strict: 0}

# %% tags=["wrong"]
# mends the links first | the followers are in sync again
lab.cluster.recover()
sender = lab.producer({"acks": "all", "message.timeout.ms": 3000})
for topic in (alone.loose, alone.strict):
    sender.produce(topic, "one record")
sender.flush()
acknowledged = {alone.loose: True, alone.strict: True}
copies = {alone.loose: 3, alone.strict: 3}

# %% tags=["wrong", "raises-exception"]
# has no patience for the second report | No delivery report has come yet for
sender = lab.producer({"on_delivery": lambda error, message: told.update({message.topic(): error})})
for topic in (alone.loose, alone.strict):
    sender.produce(topic, "one record")
sender.flush(5)
acknowledged = {topic: told[topic] is None for topic in (alone.loose, alone.strict)}
copies = {alone.loose: 1, alone.strict: 0}

# %% tags=["wrong"]
# asks for the reports that came | no report has come yet for
sender = lab.producer({"on_delivery": lambda error, message: told.update({message.topic(): error})})
for topic in (alone.loose, alone.strict):
    sender.produce(topic, "one record")
sender.flush(5)
acknowledged = {topic: error is None for topic, error in told.items()}
copies = {alone.loose: 1, alone.strict: 0}

# %% tags=["right"]
# tries once, and says what the reports say
from confluent_kafka import Producer

sender = Producer({"bootstrap.servers": lab.bootstrap, "acks": -1, "retries": 0})
errors = []
for topic in (alone.loose, alone.strict):
    sender.produce(topic, "one record", on_delivery=lambda error, message: errors.append(error))
    sender.flush()
acknowledged = {alone.loose: errors[0] is None, alone.strict: errors[1] is None}
copies = {alone.loose: 1, alone.strict: 0}

# %% tags=["nbval-check-output"]
lab.check.alone_understood(alone, acknowledged, copies)

# %% [markdown]
# The record in `loose` is acknowledged, on one broker. So `min.insync.replicas=1`, which is Kafka's default, and `acks=all` together promise no more than `acks=1` as soon as the followers are too slow.

# %% [markdown]
# ### Exercise 10.6: At most once, at least once
#
# Break a promise on purpose, and keep the other one. Your program is killed twice in each of two ways; `orders.way` says in which: `"at most once"` or `"at least once"`. The first kill comes when order 7 is in work, the second one when order 13 is done. `orders.topic` is the topic with the orders, and `orders.work(message)` does the work.
#
# In the first way only the order that was in work may be missing, and none is done twice. In the second way none is missing, and only the one that was just done comes again.

# %%
# %%program both_ways
from threebrokers.lab.orders import Orders

orders = Orders(lab)
# TODO: make the consumer, read, work and commit, as orders.way says, in a loop without an end
# BEGIN SOLUTION
consumer = orders.consumer({"enable.auto.commit": False})
consumer.subscribe([orders.topic])
while True:
    message = consumer.poll(0.2)
    if message is not None and orders.way == "at most once":
        consumer.commit(message=message, asynchronous=False)
        orders.work(message)
    elif message is not None:
        orders.work(message)
        consumer.commit(message=message, asynchronous=False)
# END SOLUTION

# %%
from threebrokers.lab.scenarios import killed_twice
from threebrokers.ledger import compare

lab.cluster.recover()
promises = ("at most once", "at least once")
ways = {way: killed_twice(lab, "both_ways", way=way, topic="two-ways") for way in promises}
compare({way: runs.balance for way, runs in ways.items()})

# %% [markdown]
# <details><summary>Hint</summary>
#
# The program dies between two lines. In which order must work and commit stand, so that the order is done never, or twice?
#
# </details>
# <details><summary>Another hint</summary>
#
# Commit each order by itself with `consumer.commit(…)`, and wait for it: `asynchronous=False`. `enable.auto.commit` would commit when it likes.
#
# </details>

# %% tags=["wrong"]
# work first in both ways | for the work was done before its commit
consumer = orders.consumer({"enable.auto.commit": False})
consumer.subscribe([orders.topic])
while True:
    message = consumer.poll(0.2)
    if message is not None:
        orders.work(message)
        consumer.commit(message=message, asynchronous=False)

# %% tags=["wrong"]
# commits first in both ways | for the commit came before its work
consumer = orders.consumer({"enable.auto.commit": False})
consumer.subscribe([orders.topic])
while True:
    message = consumer.poll(0.2)
    if message is not None:
        consumer.commit(message=message, asynchronous=False)
        orders.work(message)

# %% tags=["wrong"]
# the wrong way round | they are the wrong way round
consumer = orders.consumer({"enable.auto.commit": False})
consumer.subscribe([orders.topic])
while True:
    message = consumer.poll(0.2)
    if message is not None:
        if orders.way == "at least once":
            consumer.commit(message=message, asynchronous=False)
        orders.work(message)
        if orders.way == "at most once":
            consumer.commit(message=message, asynchronous=False)

# %% tags=["wrong"]
# waits for no commit | works on while a commit is under way
consumer = orders.consumer({"enable.auto.commit": False})
consumer.subscribe([orders.topic])
while True:
    message = consumer.poll(0.2)
    if message is not None and orders.way == "at most once":
        consumer.commit(message=message)
        orders.work(message)
    elif message is not None:
        orders.work(message)
        consumer.commit(message=message)

# %% tags=["wrong"]
# waits for no commit after the work | takes the next order while a commit is under way
consumer = orders.consumer({"enable.auto.commit": False})
consumer.subscribe([orders.topic])
while True:
    message = consumer.poll(0.2)
    if message is not None and orders.way == "at most once":
        consumer.commit(message=message, asynchronous=False)
        orders.work(message)
    elif message is not None:
        orders.work(message)
        consumer.commit(message=message)

# %% tags=["wrong"]
# leaves the client its own commits | the client commits by itself, in the background
consumer = orders.consumer()
consumer.subscribe([orders.topic])
while True:
    message = consumer.poll(0.2)
    if message is not None and orders.way == "at most once":
        consumer.commit(message=message, asynchronous=False)
        orders.work(message)
    elif message is not None:
        orders.work(message)
        consumer.commit(message=message, asynchronous=False)

# %% tags=["wrong"]
# commits ten orders before the first of them | commit one order at a time, before it
consumer = orders.consumer({"enable.auto.commit": False})
consumer.subscribe([orders.topic])
while True:
    messages = consumer.consume(10, timeout=0.2)
    if messages and orders.way == "at most once":
        consumer.commit(message=messages[-1], asynchronous=False)
    for message in messages:
        orders.work(message)
        if orders.way == "at least once":
            consumer.commit(message=message, asynchronous=False)

# %% tags=["wrong"]
# commits ten orders after the last of them | how often your program commits
consumer = orders.consumer({"enable.auto.commit": False})
consumer.subscribe([orders.topic])
while True:
    messages = consumer.consume(10, timeout=0.2)
    for message in messages:
        if orders.way == "at most once":
            consumer.commit(message=message, asynchronous=False)
        orders.work(message)
    if messages and orders.way == "at least once":
        consumer.commit(message=messages[-1], asynchronous=False)

# %% tags=["right"]
# one function for each way
consumer = orders.consumer({"enable.auto.commit": False})
consumer.subscribe([orders.topic])


def commit(message):
    consumer.commit(message=message, asynchronous=False)


steps = [commit, orders.work] if orders.way.startswith("at most") else [orders.work, commit]
while True:
    for message in consumer.consume(5, timeout=0.2):
        for step in steps:
            step(message)

# %% tags=["nbval-check-output"]
lab.check.both_orders(ways)

# %% [markdown] covers="D166 E110"
# ### What a reliable consumer sets
#
# Four settings decide: `group.id` (who shares the committed offsets), `auto.offset.reset` (where to begin if there is none, or none that is still in the log: `latest` passes over records), `enable.auto.commit` (true by default: in this client set it to `False` and let the program commit, or store what is done, as in lab 06, where you also find when Java's automatic commits lose nothing), and, if it commits by itself, `auto.commit.interval.ms` (how much comes again). The rest is code. This is what two kills left of 40 orders, in twenty runs:
#
# | | lost | twice |
# |---|---|---|
# | `enable.auto.commit=true`, every 2 s | 1 | 6 |
# | `False`; commit, then work | 1 | 0 |
# | `False`; work, then commit | 0 | 1 |
# | `False`; work and offset in one transaction of the database | 0 | 0 |
#
# So commit what is done, and be ready to read it again.

# %% [markdown]
# ### The slowest one in sync
#
# With `acks=all` the leader waits for each replica in sync. How long, if one of two followers hears everything 100 ms later?

# %%
from statistics import median
from time import perf_counter

from threebrokers.lab.scenarios import controller_last

lab.cluster.recover()
slowest = lab.fresh_topic("slowest", brokers=controller_last(lab))
lab.cluster.slow(partition_of(lab, slowest).replicas[1], 100, "brokers")
took = {}
for acks in ("1", "all"):
    producer, times = lab.producer({"acks": acks, "linger.ms": 0}), []
    for number in range(11):  # the first one pays for connections
        began = perf_counter()
        producer.produce(slowest, f"tick {number}")
        producer.flush()
        times.append(perf_counter() - began)
    took[acks] = median(times[1:])
    print(f"acks={acks}: {1000 * took[acks]:.1f} ms a record")
lab.cluster.heal()
lab.observed("acks=all waited for the slow follower, acks=1 did not", took["all"] > 0.1 > took["1"])

# %% [markdown] covers="A110 D120"
# The follower first gets the record, late, and then tells the leader that it has it, late again. Meanwhile the request of the producer lies in the leader's *purgatory*, with all requests that cannot be answered yet. How many lie there is a metric of each broker, `PurgatorySize`: if that of `Produce` grows, look for a slow follower.

# %% [markdown]
# ### A report that nobody reads
#
# The kill of fault one again, for a producer with `acks=all` that tries each record once:

# %%
from threebrokers.lab.scenarios import killed_leader

hasty = killed_leader(lab, {"once": {"acks": "all", "retries": 0}})
lab.observed("Nothing that was acknowledged is lost, and 100 failed", hasty.numbers == "100/100")
hasty

# %% [markdown] covers="D156 D162"
# Kafka has kept its promise: no *acknowledged* record is lost. But 100 records are nowhere, and only their delivery reports say so. For a program that does not look at them they are lost, with `acks=all`.
#
# (In exercise 10.2 five retries were patience enough: a client that reaches no leader waits, and only what it has sent counts as a try. What ends its patience is `message.timeout.ms`.)
#
# To send a failed record again by hand may double it, as in fault two. Before Kafka had idempotence, some producers were the only one of their topic, and read the end of its log after each fault to see whether their last record was stored.

# %% [markdown] covers="B105 D119"
# ### Acknowledged is not on the disk
#
# `acks=all` says that every replica in sync has the record, in the memory of its machine. None of the brokers forces it to the disk:

# %%
from threebrokers.lab.scenarios import broker_settings

names = ["log.flush.interval.messages", "log.flush.interval.ms", "log.flush.scheduler.interval.ms"]
names += ["log.flush.offset.checkpoint.interval.ms"]
broker_settings(lab, names)

# %% [markdown] covers="E041"
# The first three mean: not after so many records, and not after so long. (A broker forces a segment to the disk when it closes it, and all of them when it is stopped cleanly.) The last one is how often a broker notes up to where its files are safe; after a crash it looks only at what is younger.
#
# When all three processes were killed (lab 04), nothing was lost, for the memory belongs to the operating system. A power cut for all three machines at once is another thing. So Kafka's answer is several machines on several sources of power, and not a slow disk. (Readers pay no more for it: in lab 05 a record was readable after the same time with every `acks`.)

# %% [markdown]
# ### Take it to work
#
# How do you find out what *your* set-up promises, before somebody else does? With `delivery_ledger.py`, a program that needs nothing of this course. It sends numbered records with your settings, and notes each of them, and what its report said, in a file. Then it reads the topic to its end and compares. This cell puts it into your folder `work/`, and runs it through three faults: the leader is killed, then the active controller is, and then the broker that leads now is restarted:

# %%
from threebrokers.lab.scenarios import DeliveryLedger, controller_last, wait_for_more

brokers = controller_last(lab)
leader, heir, controller = brokers
checked = lab.fresh_topic("checked", brokers=brokers, config={"min.insync.replicas": "2"})
ledger = DeliveryLedger(lab, checked)
faults = [(lab.cluster.kill, leader), (lab.cluster.kill, controller), (lab.cluster.stop, heir)]
with ledger.sending("acks=all", "enable.idempotence=true"):
    for fault, broker in faults:
        fault(broker)
        wait_for_more(lab, [checked])
        lab.cluster.start(broker)
        lab.cluster.wait_in_sync([checked])
found = ledger.verify()
lab.observed("Each record was acknowledged, and is there once", found.is_whole)
found

# %% [markdown] covers="E111 E112 E114" explains="kafka-verifiable-producer, kafka-verifiable-consumer"
# At work, type both commands in two terminals, with your own addresses and settings:
#
# 1. Write down the promise: what may get lost, what may come twice, how long may it stand still?
# 2. Make a topic like yours, and `send`. (Kafka has two programs of this kind, `kafka-verifiable-producer` and `kafka-verifiable-consumer`; they print a line of JSON for each record that was acknowledged, and with `--verbose` for each that was read; you compare.)
# 3. Kill the leader of a partition. How long is the longest pause? Then `verify`: it ends with an error if a record is lost or there twice.
# 4. Kill the active controller, then the coordinator of your group. `verify` again.
# 5. Restart all brokers, one after the other, each when all replicas are in sync.
# 6. Break the network: between clients and a leader, between a leader and its followers. Kill your own programs at each line that matters.
# 7. Kill the followers, then the leader, and start one follower alone (lab 04). Does the partition wait, or does it go on and lose? Which of the two have you chosen?
# 8. Do it again after each change of version or settings.

# %% [markdown] covers="B153"
# Then choose for each topic, by what its ledger says:
#
# | | set-up | its ledger, in this lab |
# |---|---|---|
# | clicks, of which a page counts about how many there are | `acks=0` | a dead leader takes records with it, and no report says so |
# | log lines of machines, temperatures for a trend | `acks=1` | the same; a lost answer doubles |
# | orders, payments, the entries of auditors | `acks=all`, idempotent, `min.insync.replicas=2` | nothing lost, nothing twice; a new life of the program doubles |

# %%
lab.cluster.recover()

# %% [markdown]
# What both faults did to five set-ups in twenty runs, and what killed workers left behind with each way to commit, is in [docs/guarantees.md](../docs/guarantees.md). Compare with the [solution](../solutions/10_delivery_guarantees.ipynb). Next lab: [All of it, or none?](11_transactions.ipynb)
