# %% [markdown]
# # How does a log become a table?
#
# **You will** make a topic forget old values within seconds, say in advance what is left of a log, take a key away, and build a table from a topic alone.
#
# *{minutes} minutes, and {further} more if you go further. You need lab 02: segment, offset, key.*

# %%
from threebrokers import open_lab

lab = open_lab("09")

# %% [markdown]
# Three questions from earlier labs, to see what is still there:

# %%
lab.review()

# %% [markdown] covers="B011 B137 D140 D141 D025" explains="compaction, cleanup.policy"
# ## The last price of each share
#
# A page shows the last price of each share. Whoever starts it again builds that table from a topic. Old prices are of no use to it; nor are old addresses of customers, old states of machines, old versions of a database's rows.
#
# With `cleanup.policy=compact`, Kafka keeps at least the last record of each key, and removes older ones in the background: **compaction**. (The default, `delete`, removes records by their age.)
#
# Five shares get three prices each, one a second by their timestamps. Then the broker's **cleaner**, the part that does this, has its turn. **Predict** what is left.

# %%
guess_9a = lab.predict("9.a")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_9a.choose("15")
# END SOLUTION

# %%
from threebrokers.diagrams import segments_picture
from threebrokers.lab.scenarios import segments_of, trade, wait_for_cleaner

prices = lab.fresh_topic("last-prices", config={"cleanup.policy": "compact"})
trade(lab, prices)
wait_for_cleaner(lab, prices)
segments = segments_of(lab, prices)
left = sum(len(segment.records) for segment in segments)
guess_9a.compare(str(left) if left in (5, 15) else "between 5 and 15")
segments_picture(segments)

# %% [markdown] covers="B138 B141 B144 D143 D145 E102" explains="cleaner, head, tail"
# The leader writes to the last file of the log, the **active segment**, and the cleaner never touches that one. It is closed when it is full (1 GB) or a week old, and only when the next record comes. What does a cleaner do?
#
# 1. It takes the log with the largest **dirty** share: bytes of closed segments that it has not cleaned yet, divided by the bytes of all closed segments.
# 2. It reads the dirty segments and notes the last offset of each key.
# 3. It copies *all* closed segments, without the records whose key has a higher offset in its notes. The copies take the place of the segments. No reader or writer has to wait.
#
# So the log has a clean **tail**, with gaps, and a **head**, where every record still is.

# %% [markdown] covers="E215 E219" explains="min.cleanable.dirty.ratio, min.compaction.lag.ms, max.compaction.lag.ms"
# | setting of the topic | what it says | default |
# |---|---|---|
# | `segment.ms` | a segment so old is closed when the next record comes | 7 days |
# | `min.cleanable.dirty.ratio` | the cleaner comes if the dirty share is more than this | 0.5 |
# | `min.compaction.lag.ms` | for how long the cleaner leaves a record alone | 0 |
# | `max.compaction.lag.ms` | a segment so old is closed as by `segment.ms`; then the cleaner comes, whatever the share | no bound |
#
# `trading_day` plays a day; its times stand in the records, so nobody waits. In the morning 100 shares get two prices each. In the evening three of them get a new one, 4 s apart, and 4 s later another share comes. A colleague has chosen these settings:

# %%
from threebrokers.lab.scenarios import cleaner_runs, trading_day

colleague = {"cleanup.policy": "compact", "segment.ms": "1000"}
first_try = trading_day(lab, colleague, name="shares-before")
cleaner_runs(lab, first_try)

# %% [markdown]
# So the leader's log tells it. The cleaner came in the morning, and not in the evening: three old prices are still there. In the same way the old address of a customer would still be there, whatever you have promised.

# %% [markdown]
# ### Exercise 9.1: Gone within seconds
#
# Set `settings`, so that an old price can go 3 s after the next one has come, or sooner. (The wait for the record that closes the segment does not count.) The last price of each share stays for ever.

# %%
# TODO: set `settings`, a dictionary, and `shares`, the topic that trading_day(lab, settings) returns
# BEGIN SOLUTION
settings = {"cleanup.policy": "compact", "max.compaction.lag.ms": "2000"}
shares = trading_day(lab, settings)
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# How large is the dirty share in the morning, when nothing was clean before? How large is it in the evening? And which two things must happen to an old price before it goes?
#
# </details>
# <details><summary>Another hint</summary>
#
# Two ways lead there: `segment.ms` with `min.cleanable.dirty.ratio`, or one setting that does both. `cleaner_runs(lab, shares)` shows each turn of the cleaner.
#
# </details>

# %% tags=["wrong"]
# leaves it as it is | when no more than 50%
settings = {"cleanup.policy": "compact", "segment.ms": "1000"}
shares = trading_day(lab, settings)

# %% tags=["wrong"]
# asks for compaction only | closed after seven days or at 1 GB
settings = {"cleanup.policy": "compact"}
shares = trading_day(lab, settings)

# %% tags=["wrong"]
# lowers the ratio only | is about closed segments
settings = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01"}
shares = trading_day(lab, settings)

# %% tags=["wrong"]
# deletes by age | the last ones too
settings = {"cleanup.policy": "delete", "segment.ms": "1000", "retention.ms": "3000"}
shares = trading_day(lab, settings)

# %% tags=["wrong"]
# forgets the policy | because a newer one has come; an old price
settings = {"segment.ms": "1000", "min.cleanable.dirty.ratio": "0.01"}
shares = trading_day(lab, settings)

# %% tags=["wrong"]
# compacts and deletes | also the last price of a share
settings = {"cleanup.policy": "compact,delete", "max.compaction.lag.ms": "2000"}
shares = trading_day(lab, settings)

# %% tags=["wrong", "raises-exception"]
# a segment of a thousand bytes | ended in an error in line
settings = {"cleanup.policy": "compact", "segment.bytes": "1000", "min.cleanable.dirty.ratio": "0.01"}
shares = trading_day(lab, settings)

# %% tags=["wrong"]
# takes the one lag for the other | keeps the cleaner off for 60 s
both = {"segment.ms": "1000", "min.cleanable.dirty.ratio": "0.01"}
settings = {"cleanup.policy": "compact", **both, "min.compaction.lag.ms": "60000"}
shares = trading_day(lab, settings)

# %% tags=["wrong"]
# a ratio that nothing exceeds | can never be more than
settings = {"cleanup.policy": "compact", "segment.ms": "1000", "min.cleanable.dirty.ratio": "1"}
shares = trading_day(lab, settings)

# %% tags=["wrong"]
# a time for nulls | is about records without a value
settings = {"cleanup.policy": "compact", "delete.retention.ms": "1000"}
shares = trading_day(lab, settings)

# %% tags=["wrong"]
# closes segments too late | its successor is still in the active one
settings = {"cleanup.policy": "compact", "segment.ms": "5000", "min.cleanable.dirty.ratio": "0.01"}
shares = trading_day(lab, settings)

# %% tags=["right"]
# closed soon, and a small dirty share is enough; a number for a text
settings = {"cleanup.policy": "compact", "segment.ms": 2000, "min.cleanable.dirty.ratio": 0.001}
shares = trading_day(lab, settings)

# %% tags=["right"]
# all settings at once
soon = {"segment.ms": "1000", "max.compaction.lag.ms": "3000", "min.cleanable.dirty.ratio": "0"}
settings = {"cleanup.policy": "compact", **soon}
shares = trading_day(lab, settings)

# %% tags=["nbval-check-output"]
lab.check.old_prices_gone(shares)

# %% [markdown]
# Is that a promise? *Going further* tries `max.compaction.lag.ms` in a topic into which nobody writes any more.

# %% [markdown]
# ## A table, worked out by hand
#
# The Kafka course of 2017 that lab 02 has checked prints a log of twelve records. Here it is, at the same offsets:

# %%
from threebrokers.lab.scenarios import one_more_record, worked_table

segments_picture(segments_of(lab, worked_table(lab)))

# %% [markdown] covers="B142"
# ### Exercise 9.2: What is left?
#
# The cleaner has been here once: of the first twenty records, 13, 17 and 19 were left. Nine have come since then, and are in the active segment. Now one more comes: offset 29, key K4, value V7. It begins a new segment, and the cleaner has its turn. Name the offsets that are left then, in `survivors`.

# %%
worked = worked_table(lab)
before = segments_of(lab, worked)
# TODO: set `survivors`, the list of the offsets that will be left
# BEGIN SOLUTION
survivors = [17, 20, 22, 25, 26, 27, 28, 29]
# END SOLUTION
after = one_more_record(lab, worked)

# %% [markdown]
# <details><summary>Hint</summary>
#
# Which segments are closed when the cleaner comes? For which keys does it note an offset, and which one? Then go through all closed segments, record by record.
#
# </details>
# <details><summary>Another hint</summary>
#
# It reads the nine records that are dirty. It copies these and the three of the tail. It does not read the active segment: whose newer record is there?
#
# </details>

# %% tags=["wrong"]
# what the course of 2017 prints | leaves out offset 29
survivors = [17, 20, 22, 25, 26, 27, 28]

# %% tags=["wrong"]
# looks into the active segment, too | which the cleaner does not read
survivors = [17, 20, 25, 26, 27, 28, 29]

# %% tags=["wrong"]
# keeps the first of each key | has the first record of each key
survivors = [13, 17, 19, 20, 21, 22, 26, 29]

# %% tags=["wrong"]
# counts anew | as if the records were counted anew
survivors = [0, 1, 2, 3, 4, 5, 6, 7]

# %% tags=["wrong"]
# leaves the tail as it is | what it has cleaned before
survivors = [13, 17, 19, 20, 22, 25, 26, 27, 28, 29]

# %% tags=["wrong"]
# reads the log before the cleaner comes | has every record
survivors = [record.offset for segment in before for record in segment.records]

# %% tags=["wrong"]
# the keys | it should be a whole number
survivors = ["K5", "K7", "K4", "K1", "K9", "K8", "K2", "K4"]

# %% tags=["wrong"]
# overlooks one | offset 21 is gone
survivors = [17, 20, 21, 22, 25, 26, 27, 28, 29]

# %% tags=["right"]
# computed from the segments, as a set
last = {record.key: record.offset for segment in before for record in segment.records}
survivors = {*last.values(), 29}

# %% tags=["right"]
# in another order
survivors = (29, 28, 27, 26, 25, 22, 20, 17)

# %% tags=["nbval-check-output"]
lab.check.survivors_named(worked, survivors)

# %%
from confluent_kafka import TopicPartition

seeker = lab.consumer({"group.id": lab.group("seeker")})
seeker.assign([TopicPartition(worked, 0, 23)])
print("asked for offset 23, and got", seeker.poll(10).offset())
segments_picture(before, after)

# %% [markdown] covers="B139 B143"
# What you can rely on:
#
# - Offsets and order never change. Whoever asks for an offset that is gone gets the next higher one. The difference of two offsets is no number of records.
# - A reader that keeps up sees every record. (`min.compaction.lag.ms` gives it time.)
# - A reader that comes later finds the last record of each key, and often older ones before it. So it takes the later one, always.

# %% [markdown] covers="B140 D144 D142 E210" explains="tombstone, delete.retention.ms"
# ## A key goes
#
# IBM is no longer traded here. How does it get out of the table, if the last record of each key stays? By a record with the key `IBM` and **no value** (null): a **tombstone**. The cleaner removes what is older of that key. The tombstone itself stays for `delete.retention.ms`, counted from the cleaner's first visit, so that readers can see it. A later cleaning removes it.
#
# A key is never null: a compacted topic refuses a record without one (`INVALID_RECORD`), because nothing would tell which older record it replaces.

# %% [markdown]
# ### Exercise 9.3: Take IBM away
#
# `listing` is a topic of two partitions with the prices of seven shares, and `page` a page that has read them and is switched off now. Take IBM away with the producer `remover`. Then a day passes, with prices of the others (only SAP gets none); here `delete.retention.ms` is half a second.

# %%
from threebrokers.lab.scenarios import a_day_later, new_listing

listing, page = new_listing(lab)
# TODO: make `remover`, a producer, and send with it what takes IBM away
# BEGIN SOLUTION
remover = lab.producer()
remover.produce(listing, key="IBM", value=None)
remover.flush()
# END SOLUTION
day = a_day_later(lab, listing)
day

# %% [markdown]
# <details><summary>Hint</summary>
#
# Which three things make your record the one that counts for IBM: where it lies, what its key is, and what its value is?
#
# </details>
# <details><summary>Another hint</summary>
#
# In Python, null is `None`. The client chooses the partition by the key, as it did for the prices.
#
# </details>

# %% tags=["wrong"]
# an empty text | an empty value is a value
remover = lab.producer()
remover.produce(listing, "", "IBM")
remover.flush()

# %% tags=["wrong"]
# the text None | the text 'None'
remover = lab.producer()
remover.produce(listing, str(None), "IBM")
remover.flush()

# %% tags=["wrong"]
# null in JSON | the text 'null'
import json

remover = lab.producer()
remover.produce(listing, json.dumps(None), "IBM")
remover.flush()

# %% tags=["wrong"]
# no key | a compacted topic refuses a record
remover = lab.producer()
remover.produce(listing, None)
remover.flush()

# %% tags=["wrong"]
# another key | the key of your record is
remover = lab.producer()
remover.produce(listing, None, "ibm")
remover.flush()

# %% tags=["wrong"]
# into the first partition | which is cleaned by itself
remover = lab.producer()
remover.produce(listing, None, "IBM", partition=0)
remover.flush()

# %% tags=["wrong", "raises-exception"]
# deletes the records up to here | POLICY_VIOLATION
remover = lab.admin()
for future in remover.delete_records([TopicPartition(listing, 1, -1)]).values():
    future.result()

# %% tags=["wrong"]
# does not wait for the report | has no delivery report yet
remover = lab.producer()
remover.produce(listing, None, "IBM")

# %% tags=["right"]
# a plain producer, bytes, twice
from confluent_kafka import Producer

remover = Producer({"bootstrap.servers": lab.bootstrap})
for _ in range(2):
    remover.produce(listing, key=b"IBM")
remover.flush()

# %% tags=["right"]
# says which partition, and takes the report in poll
remover = lab.producer()
remover.produce(listing, None, "IBM", partition=1)
while len(remover):
    remover.poll(0.1)

# %% tags=["nbval-check-output"]
lab.check.share_removed(listing, remover, day)

# %% [markdown]
# Now the page is switched on. Its table was saved with it, and the offsets where it goes on reading: what came meanwhile, it reads now. **Predict** what it shows.

# %%
guess_9b = lab.predict("9.b")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_9b.choose("its last price")
# END SOLUTION

# %%
count, shown = page.read_on(), page.table.get("IBM")
print(f"The page has read {count} more records. It shows for IBM: {shown}")
guess_9b.compare("its last price" if shown else "nothing: IBM is gone")

# %% [markdown]
# Look at `day` again: in between, IBM's price was gone and the null was still there; whoever read then heard of it. Whoever was away for longer than `delete.retention.ms` (24 hours by default) may miss a tombstone, and never hears of it. Such a reader must throw its table away and read the topic from the start. And reading from the start must not take longer than that either: who has read an old price, and comes to the end after the tombstone is gone, keeps it.

# %% [markdown]
# ## From the log to the table

# %% [markdown]
# ### Exercise 9.4: Start again from the topic
#
# Each time the page starts, it calls `load(topic)`, which returns the table as a dictionary. The topic has one partition. A colleague's version returns half of it, and when it starts again at once, nothing:
#
# ```python
# def load(topic):
#     table = {}
#     reader = lab.consumer({"group.id": lab.group("page"), "auto.offset.reset": "earliest"})
#     reader.subscribe([topic])
#     while message := reader.poll(2):
#         table[message.key().decode()] = message.value().decode()
#     reader.close()
#     return table
# ```
#
# Write it right. `two_starts` makes a topic and calls `load`; prices of an afternoon come, and the cleaner, until no null is left; it calls `load` again. That stands for a restart: nothing that the first call has kept may be needed.

# %%
from confluent_kafka import KafkaError

from threebrokers.lab.scenarios import two_starts


# TODO: write load(topic)
# BEGIN SOLUTION
def load(topic):
    table = {}
    reader = lab.consumer({"group.id": lab.group("loader"), "enable.partition.eof": True})
    reader.assign([TopicPartition(topic, 0, 0)])
    while (message := reader.poll(5)) is not None and not message.error():
        if message.value() is None:
            table.pop(message.key().decode(), None)
        else:
            table[message.key().decode()] = message.value().decode()
    if message is None or message.error().code() != KafkaError._PARTITION_EOF:
        raise RuntimeError("not read to the end")
    return table


# END SOLUTION
starts = two_starts(lab, load)
starts

# %% [markdown]
# <details><summary>Hint</summary>
#
# There are three faults. What is true of a message whose value has no bytes, in Python? What should such a message do to the table? And where does a group begin that has committed something?
#
# </details>
# <details><summary>Another hint</summary>
#
# `is not None` asks what you mean. `table.pop(key, None)` takes a key away. `assign` with an offset begins where you say. With `enable.partition.eof` the end of the log comes as an error in place of a record, `_PARTITION_EOF`.
#
# </details>


# %% tags=["wrong"]
# leaves it as it is | ends before the first record without a value
def load(topic):
    table = {}
    reader = lab.consumer({"group.id": lab.group("page"), "auto.offset.reset": "earliest"})
    reader.subscribe([topic])
    while message := reader.poll(2):
        table[message.key().decode()] = message.value().decode()
    reader.close()
    return table


# %% tags=["wrong"]
# goes on from the group's place | has only what came since the first call
def load(topic):
    table = {}
    reader = lab.consumer({"group.id": lab.group("reader"), "auto.offset.reset": "earliest"})
    reader.subscribe([topic])
    while (message := reader.poll(1.5)) is not None:
        if message.value() is None:
            table.pop(message.key().decode(), None)
        else:
            table[message.key().decode()] = message.value().decode()
    reader.close()
    return table


# %% tags=["wrong"]
# keeps the table in memory, and goes on from the group's place | kept from the first call
kept = {}


def load(topic):
    reader = lab.consumer({"group.id": lab.group("keeper"), "auto.offset.reset": "earliest"})
    reader.subscribe([topic])
    while (message := reader.poll(1.5)) is not None:
        kept[message.key()] = message.value()
    reader.close()
    return {key: value for key, value in kept.items() if value is not None}


# %% tags=["wrong", "raises-exception"]
# decodes what is not there | ended in an error in line
def load(topic):
    table, place = {}, TopicPartition(topic, 0, 0)
    reader = lab.consumer({"group.id": lab.group("loader"), "enable.auto.commit": False})
    end = reader.get_watermark_offsets(place)[1]
    reader.assign([place])
    while reader.position([place])[0].offset < end:
        for message in reader.consume(100, timeout=0.2):
            table[message.key().decode()] = message.value().decode()
    return table


# %% tags=["wrong"]
# passes over what has no value | which was taken away; it
def load(topic):
    table, place = {}, TopicPartition(topic, 0, 0)
    reader = lab.consumer({"group.id": lab.group("loader"), "enable.auto.commit": False})
    end = reader.get_watermark_offsets(place)[1]
    reader.assign([place])
    while reader.position([place])[0].offset < end:
        for message in reader.consume(100, timeout=0.2):
            if message.value():
                table[message.key().decode()] = message.value().decode()
    return table


# %% tags=["wrong"]
# keeps None in the table | with the value None
def load(topic):
    table, place = {}, TopicPartition(topic, 0, 0)
    reader = lab.consumer({"group.id": lab.group("loader"), "enable.auto.commit": False})
    end = reader.get_watermark_offsets(place)[1]
    reader.assign([place])
    while reader.position([place])[0].offset < end:
        for message in reader.consume(100, timeout=0.2):
            table[message.key()] = message.value()
    return table


# %% tags=["wrong"]
# takes away at the end what was ever taken away | which was taken away and came back
def load(topic):
    table, gone, place = {}, set(), TopicPartition(topic, 0, 0)
    reader = lab.consumer({"group.id": lab.group("loader"), "enable.auto.commit": False})
    end = reader.get_watermark_offsets(place)[1]
    reader.assign([place])
    while reader.position([place])[0].offset < end:
        for message in reader.consume(100, timeout=0.2):
            table[message.key()] = message.value()
            if message.value() is None:
                gone.add(message.key())
    return {key: value for key, value in table.items() if key not in gone}


# %% tags=["wrong"]
# keeps the first price | shows the older price
def load(topic):
    table, place = {}, TopicPartition(topic, 0, 0)
    reader = lab.consumer({"group.id": lab.group("loader"), "enable.auto.commit": False})
    end = reader.get_watermark_offsets(place)[1]
    reader.assign([place])
    while reader.position([place])[0].offset < end:
        for message in reader.consume(100, timeout=0.2):
            if message.value() is None:
                table.pop(message.key(), None)
            else:
                table.setdefault(message.key(), message.value())
    return table


# %% tags=["wrong"]
# begins at the end | a new group begins at the end of the log
def load(topic):
    reader = lab.consumer({"group.id": lab.group("at-the-end")})
    reader.subscribe([topic])
    return {message.key(): message.value() for message in reader.consume(100, timeout=1)}


# %% tags=["wrong"]
# never says what to read | was never told what to read
def load(topic):
    reader = lab.consumer({"group.id": lab.group("loader"), "auto.offset.reset": "earliest"})
    return {message.key(): message.value() for message in reader.consume(100, timeout=0.3)}


# %% tags=["wrong"]
# returns nothing | load(topic) returned None
def load(topic):
    print(topic)


# %% tags=["right"]
# up to the end that the log has now
def load(topic):
    table, place = {}, TopicPartition(topic, 0, 0)
    reader = lab.consumer({"group.id": lab.group("loader"), "enable.auto.commit": False})
    end = reader.get_watermark_offsets(place)[1]
    reader.assign([place])
    while reader.position([place])[0].offset < end:
        for message in reader.consume(100, timeout=0.2):
            if message.value() is None:
                table.pop(message.key().decode(), None)
            else:
                table[message.key().decode()] = message.value().decode()
    return table


# %% tags=["right"]
# a new group at each start
from secrets import token_hex


def load(topic):
    table = {}
    reader = lab.consumer({"group.id": lab.group(f"page-{token_hex(4)}"), "auto.offset.reset": "earliest"})
    reader.subscribe([topic])
    message = reader.poll(20)
    while message is not None:
        table[message.key().decode()] = message.value()
        message = reader.poll(1.5)
    reader.close()
    return {key: value.decode() for key, value in table.items() if value is not None}


# %% tags=["right"]
# the course's reader
from threebrokers.kafka.log_reader import read_log


def load(topic):
    last = {record.key: record.value for record in read_log(lab.bootstrap, topic)}
    return {key: value for key, value in last.items() if value is not None}


# %% tags=["nbval-check-output"]
lab.check.table_rebuilt(load, starts)

# %% [markdown]
# A loop until your place is the end offset is right here. Where transactions are written the last offset holds no record, and such a loop never ends (lab 11), so read to `_PARTITION_EOF`. And a read that was broken off is no table: then raise an error.

# %% [markdown]
# ## One stage, two partitions
#
# Stages of a factory report their state, with the stage as key. Critical reports go to partition 0, to be read first, all others to partition 1 (lab 05 has such a partitioner). Stage 7 reports OK, CRITICAL, OK.

# %%
guess_9c = lab.predict("9.c")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_9c.choose("2")
# END SOLUTION

# %%
from threebrokers.diagrams import log_picture
from threebrokers.kafka.log_reader import read_log
from threebrokers.lab.scenarios import reported

by_level = reported(lab, lambda stage, level: 0 if level == "CRITICAL" else 1)
reports = read_log(lab.bootstrap, by_level)
guess_9c.compare(str(sum(report.key == b"stage 7" for report in reports)))
log_picture(reports, text=lambda report: f"{report.key.decode()} {report.value.decode()}")

# %% [markdown] covers="A129"
# So the topic says of stage 7 that it is critical, and that it is well; between partitions no order tells which came later. A key is a row of a table only if all its records are in one partition: here, if the stage chooses it.
#
# The same happens to many keys if such a topic gets more partitions, because they move (lab 07): the old value stays for ever in the old partition, and no tombstone reaches it there. So make a new topic with more partitions, and copy the table into it.

# %% [markdown] covers="B146"
# ## Here and in production
#
# | | here | default |
# |---|---|---|
# | the cleaner looks for work every (`log.cleaner.backoff.ms`) | 0.5 s | 15 s |
# | its notes of keys (`log.cleaner.dedupe.buffer.size`) | 8 MB | 128 MB |
# | a segment is closed after (`segment.ms`) | 1 s | 7 days |
# | dirty share (`min.cleanable.dirty.ratio`) | 0.01 | 0.5 |
# | the cleaner comes at last after (`max.compaction.lag.ms`) | 2 s | no bound |
# | a tombstone stays (`delete.retention.ms`) | 0.5 s | 24 h |
#
# How soon does an old price go here, by the clock? IBM gets two prices, and then SAP one after the other:

# %%
from time import perf_counter

here = {"cleanup.policy": "compact", "segment.ms": "1000", "min.cleanable.dirty.ratio": "0.01"}
clocked, sender = lab.fresh_topic("clocked", config=here), lab.producer()
for price in ("141", "142"):
    sender.produce(clocked, price, "IBM")
sender.flush()
start = perf_counter()


def old_is_gone():
    sender.produce(clocked, "194", "SAP")
    sender.flush()
    return all(record.value != b"141" for record in read_log(lab.bootstrap, clocked))


lab.wait_until(old_is_gone, what="the old price to go", within=15)
seconds = perf_counter() - start
kept = [record.value for record in read_log(lab.bootstrap, clocked) if record.key == b"IBM"]
lab.observed("The old price went while records came, and the newest one stayed", kept == [b"142"])
print(f"gone after {seconds:.1f} s")

# %% [markdown]
# A second passes until a record can close the segment, and up to half a second more until the cleaner looks. With the defaults that would be seven days and 15 s, and only if enough is dirty.

# %% [markdown]
# ## What to remember
#
# - Compaction keeps at least the last record of each key in each partition, and never changes an offset. It works on closed segments, when enough is dirty.
# - A null takes a key away, and a reader who is away for too long misses it.
# - A table can be built from a compacted topic alone: from the start to the end, and the later record counts.

# %% [markdown] covers="B148"
# ## Quiz
#
# Each answer is explained when you have chosen it. The first one is kept with your progress, on this machine.

# %%
lab.quiz()

# %% [markdown]
# ## Going further
#
# What follows is not needed for the next lab. Each section stands by itself and needs only the first cell.

# %% [markdown] covers="B147"
# ### Delete, compact, or both?
#
# `cleanup.policy` takes more than one word. The baskets of a shop are kept with `compact,delete`, and `retention.ms` is one hour. Anna filled hers two hours ago, and nothing has changed since then.

# %%
guess_9f = lab.predict("9.f")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_9f.choose("nothing")
# END SOLUTION

# %%
from threebrokers.kafka.log_reader import read_log
from threebrokers.lab.scenarios import wait_for_cleaner, write_at

both = {"cleanup.policy": "compact,delete", "retention.ms": "3600000", "segment.ms": "1000"}
baskets = lab.fresh_topic("shop-baskets", config=both)
write_at(lab, baskets, [(-120, "Anna", "two lamps"), (-119, "Ben", "a chair"), (0, "Cleo", "a table")])
wait_for_cleaner(lab, baskets)
kept = {record.key.decode(): record.value.decode() for record in read_log(lab.bootstrap, baskets)}
guess_9f.compare("its last state" if "Anna" in kept else "nothing")
kept

# %% [markdown]
# (`write_at` writes records with a time, in minutes from now.)

# %% [markdown]
# ### Exercise 9.5: Delete, compact, or both?
#
# Choose for each topic of a factory: `"delete"`, `"compact"` or `"compact,delete"`. With `delete` you may choose any time.
#
# | topic | key | who reads it, and what for |
# |---|---|---|
# | `stage-state` | stage | a service that starts must know the state of each stage, also of one that has been quiet for a year |
# | `readings` | sensor | boards show the temperatures of the last three days |
# | `audit` | person | who did what; nothing may be missing for ten years |
# | `baskets` | customer | a service that starts must know each customer's basket, and read as little as possible; after 30 days without a change a basket is forgotten |
# | `repairs` | none | each is read once, within a week |

# %%
# TODO: set `policies`, {"stage-state": …, …}
# BEGIN SOLUTION
policies = {
    "stage-state": "compact",
    "readings": "delete",
    "audit": "delete",
    "baskets": "compact,delete",
    "repairs": "delete",
}
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Is the topic a table of what holds now, or a history? If it is a table: may a row that nobody changes disappear?
#
# </details>
# <details><summary>Another hint</summary>
#
# A key alone is no reason to compact: it also keeps records of one thing in order. And what would compaction do with records that have none?
#
# </details>

# %% tags=["wrong"]
# compacts whatever has a key | boards show three days
policies = dict.fromkeys(["stage-state", "readings", "audit", "baskets"], "compact") | {"repairs": "delete"}

# %% tags=["wrong"]
# a table that forgets quiet rows | the last state of a stage goes
policies = {"stage-state": "compact,delete", "readings": "delete", "audit": "delete"}
policies |= {"baskets": "compact,delete", "repairs": "delete"}

# %% tags=["wrong"]
# the last action of each person | of each person only the newest action
policies = {"stage-state": "compact", "readings": "delete", "audit": "compact"}
policies |= {"baskets": "compact,delete", "repairs": "delete"}

# %% tags=["wrong"]
# baskets for ever | never comes back is kept
policies = {"stage-state": "compact", "readings": "delete", "audit": "delete"}
policies |= {"baskets": "compact", "repairs": "delete"}

# %% tags=["wrong"]
# baskets by age | every change of a basket is kept
policies = {"stage-state": "compact", "readings": "delete", "audit": "delete"}
policies |= {"baskets": "delete", "repairs": "delete"}

# %% tags=["wrong"]
# compacts what has no key | refuse records without a key
policies = {"stage-state": "compact", "readings": "delete", "audit": "delete"}
policies |= {"baskets": "compact,delete", "repairs": "compact"}

# %% tags=["wrong"]
# a word of its own | it should be one of
policies = {"stage-state": "keep", "readings": "delete", "audit": "keep"}
policies |= {"baskets": "keep", "repairs": "delete"}

# %% tags=["wrong"]
# forgets one | says nothing of 'repairs'
policies = {"stage-state": "compact", "readings": "delete", "audit": "delete", "baskets": "compact,delete"}

# %% tags=["right"]
# lists, and the other order
policies = {"stage-state": ["compact"], "readings": ["delete"], "audit": "DELETE"}
policies |= {"baskets": "delete, compact", "repairs": "delete"}

# %% tags=["nbval-check-output"]
lab.check.policies_chosen(policies)

# %% [markdown]
# An empty `cleanup.policy` is allowed since Kafka 4.2: nothing goes by age, size or key. And a warning about both words together: the cleaner puts small segments together. A segment goes by age when its *newest* record is old enough, so an old basket can stay as long as its neighbours.

# %% [markdown] covers="B029"
# ### Newest by which clock?
#
# IBM's price of 10:00 is stored. Then a slow program sends its price of 9:59, with that timestamp. The segment is closed, and the cleaner comes.

# %%
guess_9d = lab.predict("9.d")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_9d.choose("that of 9:59")
# END SOLUTION

# %%
from threebrokers.kafka.log_reader import read_log
from threebrokers.lab.scenarios import wait_for_cleaner, write_at

soon = {"cleanup.policy": "compact", "max.compaction.lag.ms": "500"}
late = lab.fresh_topic("late-price", config=soon)
write_at(lab, late, [(-60, "IBM", "of 10:00"), (-61, "IBM", "of 9:59"), (0, "SAP", "of 11:00")])
wait_for_cleaner(lab, late)
of_ibm = [record.value.decode() for record in read_log(lab.bootstrap, late) if record.key == b"IBM"]
guess_9d.compare(f"that {of_ibm[0]}" if len(of_ibm) == 1 else "both")

# %% [markdown]
# Some pages say that Kafka keeps "the latest timestamp" of a key. It keeps the highest offset: what was *stored* last. If several programs write one key, and the time of the thing itself matters, readers must compare times that stand in the values.

# %% [markdown]
# ### A quiet topic
#
# `max.compaction.lag.ms` is 500 here. Two values of one key were written an hour ago, and nothing since then. The cleaner has its turn.

# %%
guess_9e = lab.predict("9.e")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_9e.choose("2")
# END SOLUTION

# %%
from threebrokers.kafka.log_reader import read_log
from threebrokers.lab.scenarios import wait_for_cleaner, write_at

quick = {"cleanup.policy": "compact", "max.compaction.lag.ms": "500"}
quiet = lab.fresh_topic("quiet", config=quick)
write_at(lab, quiet, [(-60, "Anna", "old address"), (-60, "Anna", "new address")])
wait_for_cleaner(lab, quiet)
guess_9e.compare(str(len(read_log(lab.bootstrap, quiet))))

# %% [markdown]
# Now one more record comes, of somebody else:

# %%
write_at(lab, quiet, [(0, "Ben", "his address")])
wait_for_cleaner(lab, quiet)
kept = [record.value.decode() for record in read_log(lab.bootstrap, quiet)]
lab.observed("One more record, of anybody, closed the segment, and then the old address went", len(kept) == 2)
kept

# %% [markdown]
# Kafka's page says of this setting that it is the longest time for which a record is not compacted. That holds while records come. Who has to forget within a time writes one record now and then, for example with a key that nobody reads. A tombstone needs this twice: it goes only in a cleaning that comes *after* its time is over, and the cleaner comes only if something new is dirty.

# %% [markdown] covers="E314"
# ### How long does a start take?
#
# Here are 40,000 prices of 100 shares. They are read as they came, and once more when their segment is closed and the cleaner has had its turn. How long does a program need?

# %%
from threebrokers.kafka.log_reader import read_log
from threebrokers.lab.scenarios import bar_chart, seconds_to_read, ticks, wait_for_cleaner, write_at

seconds = {}
topic = ticks(lab)
seconds["40,000 records"] = seconds_to_read(lab, topic)
write_at(lab, topic, [(0, "end", "of the day")])
wait_for_cleaner(lab, topic)
seconds[f"{len(read_log(lab.bootstrap, topic))} records"] = seconds_to_read(lab, topic)
bar_chart(seconds, "Time to read the whole topic", "seconds")

# %% [markdown]
# The table is the same; what differs is how long a program has none. Kafka Streams rebuilds its state in this way, from *changelog* topics. The active segment is never compacted and may be 1 GB large. So who wants to start soon chooses smaller segments (`segment.bytes`, 100 MB in Kafka's own `__consumer_offsets`), a small `min.cleanable.dirty.ratio`, and no `min.compaction.lag.ms`.

# %% [markdown]
# ### Three brokers, three cleaners
#
# Lab 02 found the same bytes on three brokers. A compacted topic with three replicas:

# %%
import pandas as pd

from threebrokers.lab.scenarios import cleaner_runs, trading_day

copied = {"cleanup.policy": "compact", "segment.ms": "1000", "min.cleanable.dirty.ratio": "0.01"}
everywhere = trading_day(lab, copied, name="shares-copied", replication_factor=3)
runs = {f"broker {broker}": cleaner_runs(lab, everywhere, broker=broker) for broker in lab.cluster.brokers}
pd.concat(runs)

# %% [markdown]
# Each cleaner works when it comes to it, and on its own replica. For a while a follower may hold a record that the leader has removed already, or the other way round. So after an election ([lab 04](04_broker_failover.ipynb)) a reader may see an old value that it would not have seen before: never a wrong last one.

# %% [markdown] covers="B145"
# ### What a cleaner may use
#
# The topic's settings have names of their own: old pages write `log.cleanup.policy` and `log.cleaner.min.compaction.lag.ms`, which are the brokers' defaults for them. What a broker gives to its cleaner is the same for all its topics:

# %%
from threebrokers.lab.scenarios import broker_settings

names = ["log.cleaner.threads", "log.cleaner.backoff.ms", "log.cleaner.dedupe.buffer.size"]
names += ["log.cleaner.io.max.bytes.per.second", "log.cleaner.io.buffer.size"]
names += ["log.cleaner.delete.retention.ms", "log.cleaner.min.cleanable.ratio"]
broker_settings(lab, names)

# %% [markdown]
# - The notes need 24 bytes for each key. 128 MB are enough for five million keys in one turn; a log with more takes several turns.
# - The copies need room: one segment more, and all that was replaced in the last minute (`file.delete.delay.ms`).
# - `log.cleaner.io.max.bytes.per.second` slows it down, if it takes the disk from producers and readers.
# - `max-dirty-percent` among a broker's metrics is the dirty share of the dirtiest log that the cleaner still cleans. If it only grows, the cleaner is too slow. A log that the cleaner has given up, because of a damaged record, is not in that number. `uncleanable-partitions-count` counts such logs; look for *cleaner* in the broker's log to see why.
# - To switch the cleaner off (`log.cleaner.enable`) is deprecated: `__consumer_offsets` would grow without end.

# %% [markdown]
# ### Who else keeps tables so?
#
# Kafka itself. Each commit of a group is a record, and only the last one counts:

# %%
from confluent_kafka import TopicPartition

asker = lab.consumer({"group.id": lab.group("seeker")})
asker.committed(
    [TopicPartition(lab.topic("board"), 0)], timeout=10
)  # makes the topic if there was no group yet
told = lab.cluster.tool("kafka-topics", "--describe", "--topic", "__consumer_offsets")
print(told.splitlines()[0])

# %% [markdown]
# So do transactions (`__transaction_state`), Kafka Connect (its settings and places), Kafka Streams, schema registries; and programs that follow a database send each changed row under its primary key, and a tombstone when a row is deleted. Whoever comes new reads the topic from the start and has a copy of the table, and then goes on with the changes.

# %% [markdown]
# Compare with the [solution](../solutions/09_compaction.ipynb). Next lab: [What can be lost, what can come twice?](10_delivery_guarantees.ipynb)
