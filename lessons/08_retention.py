# %% [markdown]
# # When is data deleted?
#
# **You will** choose settings with which records go in time, start a reader again whose place in the log is gone, and keep a topic within its part of a disk.
#
# *{minutes} minutes, and {further} more if you go further. You need lab 02: segment, timestamp; and lab 01: committed offset.*

# %%
from threebrokers import open_lab

lab = open_lab("08")

# %% [markdown]
# Three questions from earlier labs, to see what is still there:

# %%
lab.review()

# %% [markdown] covers="D016 D017 B012 E007" explains="retention, retention.ms"
# ## Seven days
#
# The doors of an office write a record each time somebody opens one. Whoever works there was promised: after seven days it is deleted. That is Kafka's default (`retention.ms`), whether anybody has read a record or not.
#
# You need not wait for a week. Brokers know the age of a record only from its timestamp, and that comes from the producer (lab 02). `send_days` sends a record for every sixth hour of the last 20 days, each with its own time. Until all are there, nothing shall be deleted.

# %%
from threebrokers.lab.scenarios import segment_ages, send_days

doors = lab.fresh_topic("doors", config={"retention.ms": "-1"})
print(send_days(lab, doors), "records are stored.")
before = segment_ages(lab, doors)

# %% [markdown]
# Now the topic gets Kafka's default. **Predict** what is left.

# %%
guess_8a = lab.predict("8.a")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_8a.choose("about 13 days")
# END SOLUTION

# %% [markdown]
# `wait_for_retention` returns when each broker has looked for something to delete.

# %%
from threebrokers.lab.scenarios import segment_chart, wait_for_retention

change = ["--alter", "--entity-type", "topics", "--entity-name", doors]
told = lab.cluster.tool("kafka-configs", *change, "--delete-config", "retention.ms")
wait_for_retention(lab)
after = segment_ages(lab, doors)
before["now"] = ["kept" if offset in after.index else "deleted" for offset in before.index]
segment_chart(before, keep=7)
before.round(1)

# %%
guess_8a.compare(f"about {after['oldest (days)'].max():.0f} days")

# %% [markdown] covers="B107 D130 D131 E028 E029" explains="active segment"
# Brokers do not delete records. They delete whole **segments**.
#
# - **Which ones?** A broker looks at its segments from time to time, beginning with the oldest. A segment goes if its *newest* record is older than `retention.ms`. At the first one that stays, the look ends. So one fresh record keeps its whole segment.
# - **When does a segment begin?** New records go to the last one, the **active** segment. A record begins a new one if the active one is full (`segment.bytes`, 1 GB), or if its time is more than `segment.ms` (7 days) after that of the segment's first record.
#
# So a record may stay for the sum of both, and some minutes until the broker looks: 14 days by default. (A book computes 17 days for a topic with 100 MB a day: ten until a segment of 1 GB is full, and seven more. It forgets that `segment.ms` begins a new one after seven days.)

# %% [markdown]
# ### Exercise 8.1: Gone in time
#
# Set a topic's `settings` so that, today and on any other day, all records of the last seven days are there, and none is older than eight (the minutes until a broker looks do not count). The broker shall keep 20 segments at most: each is three files that it holds open.
#
# `twenty_days(lab, settings)` makes the topic, sends the same 20 days, lets the brokers look, and returns the topic's name.

# %%
from threebrokers.lab.scenarios import twenty_days

DAY = 24 * 60 * 60 * 1000  # in milliseconds
# TODO: set `settings`, {"…": …}, and `badges` to what twenty_days(lab, settings) returns
# BEGIN SOLUTION
settings = {"retention.ms": 7 * DAY, "segment.ms": DAY}
badges = twenty_days(lab, settings)
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Look at the picture: which segment reaches over the limit of seven days, and for how many days? How long may a segment be, so that its oldest record goes in time?
#
# </details>
# <details><summary>Another hint</summary>
#
# `retention.ms` says when a segment is too old, and `segment.ms` how long one may be. `segment_ages(lab, badges)` shows what you have got.
#
# </details>

# %% tags=["wrong"]
# seven days, and nothing else | its segment spans 7.0 days
settings = {"retention.ms": 7 * DAY}
badges = twenty_days(lab, settings)

# %% tags=["wrong"]
# a shorter time, so that nothing is too old | of the last 7 days are missing
settings = {"retention.ms": DAY}
badges = twenty_days(lab, settings)

# %% tags=["wrong", "raises-exception"]
# tiny segments | ended in an error
settings = {"retention.ms": 7 * DAY, "segment.bytes": 1000}
badges = twenty_days(lab, settings)

# %% tags=["wrong"]
# a segment for each record | the broker keeps 28
settings = {"retention.ms": 7 * DAY, "segment.ms": 60_000}
badges = twenty_days(lab, settings)

# %% tags=["wrong"]
# a longer time, so that nothing is missing | retention.ms, which is 8 days
settings = {"retention.ms": 8 * DAY, "segment.ms": DAY}
badges = twenty_days(lab, settings)

# %% tags=["wrong"]
# in time today, by chance | may become 8.5 days old
settings = {"retention.ms": 15 * DAY // 2, "segment.ms": DAY}
badges = twenty_days(lab, settings)

# %% tags=["wrong"]
# seconds for milliseconds | every record is gone
settings = {"retention.ms": 7 * 24 * 60 * 60, "segment.ms": DAY}
badges = twenty_days(lab, settings)

# %% tags=["wrong"]
# shortens the segments afterwards | were written before
settings = {"retention.ms": 7 * DAY}
badges = twenty_days(lab, settings)
change = ["--alter", "--entity-type", "topics", "--entity-name", badges]
told = lab.cluster.tool("kafka-configs", *change, "--add-config", f"segment.ms={DAY}")

# %% tags=["wrong"]
# compaction, filled by hand | cleanup.policy is compact
settings = {"retention.ms": str(7 * DAY), "segment.ms": str(DAY), "cleanup.policy": "compact"}
badges = lab.fresh_topic("badges", config=settings)
send_days(lab, badges)

# %% tags=["wrong"]
# keeps everything, filled by hand | for ever
badges = lab.fresh_topic("badges", config={"retention.ms": "-1", "segment.ms": str(DAY)})
send_days(lab, badges)

# %% tags=["wrong"]
# the broker's own clock | look new
settings = {"retention.ms": 7 * DAY, "message.timestamp.type": "LogAppendTime"}
badges = twenty_days(lab, settings)

# %% tags=["wrong"]
# sends only what should stay | 28 records were stored
badges = lab.fresh_topic("badges", config={"segment.ms": str(DAY)})
send_days(lab, badges, days=7)

# %% tags=["wrong"]
# gives the topic from above | it should be 'badges'
settings = {}
badges = doors

# %% tags=["wrong"]
# a bound in bytes, too | retention.bytes is 100000
settings = {"retention.ms": 7 * DAY, "segment.ms": DAY, "retention.bytes": 100_000}
badges = twenty_days(lab, settings)

# %% tags=["wrong"]
# a bound so small that it deletes today | gone, for retention.bytes is 1000
settings = {"retention.ms": 7 * DAY, "segment.ms": DAY, "retention.bytes": 1000}
badges = twenty_days(lab, settings)

# %% tags=["wrong"]
# nothing old may be written | brokers refuse a record that is older
settings = {"retention.ms": 7 * DAY, "segment.ms": DAY, "message.timestamp.before.max.ms": 8 * DAY}
badges = twenty_days(lab, settings)

# %% tags=["right"]
# segments of half a day, a little more time, as texts
settings = {"retention.ms": "620000000", "segment.ms": str(DAY // 2), "retention.bytes": "-1"}
badges = twenty_days(lab, settings)

# %% tags=["right"]
# the topic is made and filled by hand
badges = lab.fresh_topic("badges", config={"retention.ms": "-1", "segment.ms": str(DAY)})
send_days(lab, badges)
change = ["--alter", "--entity-type", "topics", "--entity-name", badges]
told = lab.cluster.tool("kafka-configs", *change, "--add-config", f"retention.ms={7 * DAY}")
wait_for_retention(lab)

# %% tags=["nbval-check-output"]
lab.check.gone_in_time(badges)

# %% [markdown]
# ## A move
#
# 100 records of a year ago move from another system into Kafka, with their own times. The topic has default settings and three partitions. Each partition gets all 100, and besides:
#
# - **A**: nothing.
# - **B**: *after* them one record of now.
# - **C**: *before* them one record of now.

# %%
guess_8b = lab.predict("8.b")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_8b.choose("0 · 1 · 101")
# END SOLUTION

# %%
import time

from threebrokers.kafka.log_reader import read_log
from threebrokers.lab.scenarios import send_at

now = int(time.time() * 1000)
old = [now - 365 * DAY + number for number in range(100)]
moved = lab.fresh_topic("moved", partitions=3)
plan = [old, [*old, now], [now, *old]]
acknowledged = [send_at(lab, moved, partition, times) for partition, times in enumerate(plan)]
wait_for_retention(lab)
left = [len(read_log(lab.bootstrap, moved, partitions=[partition])) for partition in range(3)]
lab.observed("All records were acknowledged", acknowledged == [100, 101, 101])
guess_8b.compare(" · ".join(map(str, left)))

# %% [markdown]
# - **A**: the active segment goes, too: the broker first begins a new one. Many books say that it is never deleted. It only looks so while somebody writes to it, for then its newest record is fresh.
# - **B**: the record of now is a year later than the segment's first, so it begins a new segment.
# - **C**: no record of a year ago is *later* than the first. So no segment begins, and the fresh record keeps them all.
#
# No error came. It is the same when a backup is written back, or a topic is copied with its timestamps (Kafka's MirrorMaker does that). So choose the new topic's `retention.ms` first. Or `message.timestamp.type=LogAppendTime`: then the time counts from the move, and the records' own times are lost. If you would rather be told, set `message.timestamp.before.max.ms` as high as `retention.ms`: then the brokers refuse records that are too old (lab 02).

# %% [markdown]
# ## A reader comes back
#
# A log holds the offsets 100 to 129. Two groups have committed other ones:
#
# - **Group 1**, offset 40: it was away for long. It has this client's default settings.
# - **Group 2**, offset 500: it was copied from another cluster, where the log was longer. It has `auto.offset.reset=earliest`.

# %%
guess_8c = lab.predict("8.c")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_8c.choose("only what is new · 100 to 129")
# END SOLUTION

# %% [markdown]
# `lost_places` lets eight groups begin, one for each place and setting, and returns what each gets first.

# %%
from threebrokers.lab.scenarios import lost_places

places = lost_places(lab)
two = [places.iloc[0, 0], places.loc["earliest"].iloc[1]]
guess_8c.compare(" · ".join(two).replace("offset 100", "100 to 129"))
places

# %% [markdown] covers="D122" explains="OFFSET_OUT_OF_RANGE"
# Brokers answer such a request with an error, `OFFSET_OUT_OF_RANGE`. The client then does what `auto.offset.reset` says, as for a new group. Unless that is `error`, the program does not hear of it: the client only writes a line to its log. (confluent-kafka by itself writes a warning with the word `OFFSET` to standard error. A client that `lab.consumer` makes writes it into the file `clients.log`, in the course's folder for brokers.)
#
# - **latest** (the default, in Java too): all that is left is skipped, and the program is not told.
# - **earliest**: from the start. From beyond the end, much may come again.
# - **error** (in Java `none`): the program is told, and must decide. (Java also knows `by_duration:P1D`: it begins at the first record that is at most a day old.)
#
# None of them says how much is missing.
#
# A place beyond the end needs no move to another cluster: in [lab 04](04_broker_failover.ipynb) a log was cut back when a replica led that was not in sync. A group's own commit helps then: it also names the leader's epoch, a number that each new leader gets. By it the broker finds where the two logs part, and reading goes on there, with `latest` and `earliest` alike; with `error` the program is told (KIP-320). A place that was copied as a bare number has none.

# %% [markdown]
# ### Exercise 8.2: What was missed?
#
# A group bills the charging of electric cars, and was switched off for too long. In some of the three partitions the log begins at a higher offset now than the group has committed. A colleague starts it again:
#
# ```python
# worker = charges.ledger.consumer({"group.id": charges.group})
# worker.subscribe([charges.topic])
# charges.bill_all(worker)
# ```
#
# Mend it: bill each charge that is still there, and none that was billed before. And set `missed`: how many charges of each partition were deleted before they were billed. (`bill_all` polls until nothing comes any more, and then closes the worker. Here every offset is one charge; labs 09 and 11 have logs in which some offsets hold no record.)

# %%
from confluent_kafka import TopicPartition

from threebrokers.lab.scenarios import Charges

charges = Charges(lab)  # charges.topic, charges.group, charges.ledger
# TODO: set `missed`, {0: …, 1: …, 2: …}, and bill what is left
# BEGIN SOLUTION
worker = charges.ledger.consumer({"group.id": charges.group, "auto.offset.reset": "earliest"})
committed = worker.committed([TopicPartition(charges.topic, p) for p in range(3)])
starts = [worker.get_watermark_offsets(place)[0] for place in committed]
missed = {p.partition: max(0, start - p.offset) for p, start in zip(committed, starts, strict=True)}
worker.subscribe([charges.topic])
print("billed:", charges.bill_all(worker))
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Which charges does the colleague's worker bill, and which not: what does `charges.ledger.balance(charges.topic)` say? And can a record that comes tell of a gap in a partition where nothing is left?
#
# </details>
# <details><summary>Another hint</summary>
#
# `worker.committed([TopicPartition(topic, partition), …])` returns the group's offsets, also before `subscribe`. `worker.get_watermark_offsets(place)` returns two offsets: the start and the end of the log.
#
# </details>

# %% tags=["wrong"]
# the colleague's lines | still in the log, and not billed
worker = charges.ledger.consumer({"group.id": charges.group})
worker.subscribe([charges.topic])
charges.bill_all(worker)
missed = {0: 0, 1: 15, 2: 20}

# %% tags=["wrong"]
# believes that it goes on where it was | `missed` says 0 for partition 2
worker = charges.ledger.consumer({"group.id": charges.group, "auto.offset.reset": "earliest"})
worker.subscribe([charges.topic])
charges.bill_all(worker)
missed = {0: 0, 1: 0, 2: 0}

# %% tags=["wrong"]
# a new group | had been billed before
worker = charges.ledger.consumer({"group.id": f"{charges.group}-new", "auto.offset.reset": "earliest"})
worker.subscribe([charges.topic])
charges.bill_all(worker)
missed = {0: 0, 1: 15, 2: 20}

# %% tags=["wrong"]
# the lag | holds the lag of each partition
worker = charges.ledger.consumer({"group.id": charges.group, "auto.offset.reset": "earliest"})
committed = worker.committed([TopicPartition(charges.topic, p) for p in range(3)])
missed = {p.partition: worker.get_watermark_offsets(p)[1] - p.offset for p in committed}
worker.subscribe([charges.topic])
charges.bill_all(worker)

# %% tags=["wrong"]
# where the logs begin | holds where each log begins now
worker = charges.ledger.consumer({"group.id": charges.group, "auto.offset.reset": "earliest"})
missed = {p: worker.get_watermark_offsets(TopicPartition(charges.topic, p))[0] for p in range(3)}
worker.subscribe([charges.topic])
charges.bill_all(worker)

# %% tags=["wrong"]
# forgets that the start may be the smaller one | so nothing was deleted there before
worker = charges.ledger.consumer({"group.id": charges.group, "auto.offset.reset": "earliest"})
committed = worker.committed([TopicPartition(charges.topic, p) for p in range(3)])
missed = {p.partition: worker.get_watermark_offsets(p)[0] - p.offset for p in committed}
worker.subscribe([charges.topic])
charges.bill_all(worker)

# %% tags=["wrong", "raises-exception"]
# looks when the worker is closed | RuntimeError: Consumer closed
worker = charges.ledger.consumer({"group.id": charges.group, "auto.offset.reset": "earliest"})
worker.subscribe([charges.topic])
charges.bill_all(worker)
committed = worker.committed([TopicPartition(charges.topic, p) for p in range(3)])
missed = {p.partition: max(0, worker.get_watermark_offsets(p)[0] - p.offset) for p in committed}

# %% tags=["wrong"]
# never subscribes | no charge was billed
worker = charges.ledger.consumer({"group.id": charges.group, "auto.offset.reset": "earliest"})
charges.bill_all(worker)
missed = {0: 0, 1: 15, 2: 20}

# %% tags=["wrong", "raises-exception"]
# lets the client tell, and does not listen | KafkaException
worker = charges.ledger.consumer({"group.id": charges.group, "auto.offset.reset": "error"})
worker.subscribe([charges.topic])
charges.bill_all(worker)
missed = {0: 0, 1: 15, 2: 20}

# %% tags=["wrong"]
# one number | should be a dictionary
worker = charges.ledger.consumer({"group.id": charges.group, "auto.offset.reset": "earliest"})
worker.subscribe([charges.topic])
charges.bill_all(worker)
missed = 35

# %% tags=["right"]
# asks the admin client, and gives the places by hand
from confluent_kafka.admin import OffsetSpec

worker = charges.ledger.consumer({"group.id": charges.group})
own = {p.partition: p.offset for p in worker.committed([TopicPartition(charges.topic, p) for p in range(3)])}
asked = {TopicPartition(charges.topic, p): OffsetSpec.earliest() for p in range(3)}
starts = {p.partition: told.result().offset for p, told in lab.admin().list_offsets(asked).items()}
missed = {p: starts[p] - own[p] for p in range(3) if starts[p] > own[p]}
worker.assign([TopicPartition(charges.topic, p, max(own[p], starts[p])) for p in range(3)])
charges.bill_all(worker)

# %% tags=["nbval-check-output"]
lab.check.gap_known(charges, missed)

# %% [markdown] covers="E027" explains="retention.bytes"
# ## How much, not how long
#
# A topic can also have a bound in bytes, `retention.bytes`. A camera sends 5 MB to each partition of a topic with four, all on broker 1. `film(lab, settings)` makes the topic, fills it, and lets the broker look. Here `retention.bytes` is 2 MB.

# %%
guess_8d = lab.predict("8.d")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_8d.choose("20")
# END SOLUTION

# %%
from threebrokers.lab.scenarios import bytes_on_disk, film

frames = film(lab, {"retention.bytes": 2_000_000})
sizes = bytes_on_disk(lab, frames, range(4))
print("MB of each partition:", [round(size / 1e6, 1) for size in sizes])
guess_8d.compare(round(sum(sizes) / 1e6))

# %% [markdown]
# The bound is for **each partition**. And again only whole segments go: the oldest one, if `retention.bytes` are left *without it*. So eight partitions with a bound of 1 GB and the default segments of 1 GB may hold 16 GB, on a broker that has a replica of each.

# %% [markdown]
# ### Exercise 8.3: A part of a disk
#
# When the broker has looked, this topic must never have more than 12 MB; and its newest 6 MB must always be there. (The camera never stops, so nothing becomes seven days old.) Set `settings` so that both are certain, however full its segments are, and run `film` with them. A segment can have 1,048,576 bytes or more.

# %%
# TODO: set `settings`, and `frames` to what film(lab, settings) returns
# BEGIN SOLUTION
settings = {"retention.bytes": 1_800_000, "segment.bytes": 1_048_576}
frames = film(lab, settings)
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# How many bytes has a partition at least, when a segment has just gone? How many has it at most, when one is about to go? There are four partitions.
#
# </details>
# <details><summary>Another hint</summary>
#
# `retention.bytes` is the least, and a whole segment more is the most. Four times the one must be 6 MB or more, four times the other at most 12 MB.
#
# </details>

# %% tags=["wrong"]
# the bound of the topic | counts for each partition
settings = {"retention.bytes": 12_000_000, "segment.bytes": 1_048_576}
frames = film(lab, settings)

# %% tags=["wrong"]
# forgets the segment | (3.0 MB + 1.0 MB)
settings = {"retention.bytes": "3000000", "segment.bytes": "1048576"}
frames = lab.fresh_topic("frames", partitions=4, config=settings)

# %% tags=["wrong"]
# leaves the segments as they are | may lie in one segment
settings = {"retention.bytes": 1_800_000}
frames = film(lab, settings)

# %% tags=["wrong"]
# keeps too little | are sure to stay
settings = {"retention.bytes": "1000000", "segment.bytes": "1048576"}
frames = lab.fresh_topic("frames", partitions=4, config=settings)

# %% tags=["wrong", "raises-exception"]
# small segments | ended in an error
settings = {"retention.bytes": 2_900_000, "segment.bytes": 100_000}
frames = film(lab, settings)

# %% tags=["wrong"]
# no bound in bytes | retention.bytes is -1
frames = lab.fresh_topic("frames", partitions=4, config={"segment.bytes": "1048576"})

# %% tags=["wrong"]
# a bound in time, too | however little is left
settings = {"retention.bytes": 1_800_000, "segment.bytes": 1_048_576, "retention.ms": 3_600_000}
frames = film(lab, settings)

# %% tags=["wrong"]
# segments that are too large, and hold no partition | (1.5 MB + 4.0 MB)
settings = {"retention.bytes": "1500000", "segment.bytes": "4000000"}
frames = lab.fresh_topic("frames", partitions=4, config=settings)

# %% tags=["right"]
# larger segments, as texts
settings = {"retention.bytes": "1500000", "segment.bytes": "1500000"}
frames = film(lab, settings)

# %% tags=["nbval-check-output"]
lab.check.within_bounds(frames)

# %% [markdown] covers="B106" explains="log.retention.check.interval.ms, log.segment.delete.delay.ms"
# ## Here and in production
#
# | | here | default |
# |---|---|---|
# | brokers look for old segments (`log.retention.check.interval.ms`) | every 2 s | every 5 minutes |
# | files of a deleted segment go after (`log.segment.delete.delay.ms`; for a topic `file.delete.delay.ms`) | 1 s | 1 minute |
# | `retention.ms`, `segment.ms` | 7 days, 7 days | the same |
# | `retention.bytes`, `segment.bytes` | no bound, 1 GB | the same |

# %% [markdown]
# ## What to remember
#
# - Whole segments go, the oldest first, when the time of their newest record is too old. So a record may stay for `retention.ms` and `segment.ms` together.
# - If a group's place is gone, `auto.offset.reset` decides. Unless it is `error`, the program is not told. Compare the committed offset with the start of the log.
# - `retention.bytes` is the least that each partition keeps. A segment more is the most.

# %% [markdown] covers="B015"
# ## Quiz
#
# Each answer is explained when you have chosen it. The first one is kept with your progress, on this machine.

# %%
lab.quiz()

# %% [markdown]
# ## Going further
#
# What follows is not needed for the next lab. Each section stands by itself and needs only the first cell.

# %% [markdown] explains="delete_records"
# ### Delete, now
#
# Sometimes there is no time to wait for retention. `delete_records` takes an offset of a partition, and deletes everything before it. It cannot take one record out of the middle. (A topic with `cleanup.policy=compact` alone, lab 09, refuses it. There you send a record with the key and without a value, and the older records of that key go.)
#
# Here are 100 records, each with a password. The first 60 are deleted. **Predict** what the file says.

# %%
guess_8e = lab.predict("8.e")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_8e.choose("60, until the whole segment goes")
# END SOLUTION

# %%
from confluent_kafka import TopicPartition

from threebrokers.kafka.log_reader import read_log
from threebrokers.lab.scenarios import wait_for_retention

secrets = lab.fresh_topic("secrets")
writer = lab.producer({"enable.idempotence": True})
for number in range(100):
    writer.produce(secrets, f"password {number:03}")
writer.flush()
for future in lab.admin().delete_records([TopicPartition(secrets, 0, 60)]).values():
    future.result()
wait_for_retention(lab)  # each broker has looked for something to delete
stored = b"".join(path.read_bytes() for path in lab.cluster.segments(secrets, 0))
in_files = sum(f"password {number:03}".encode() in stored for number in range(60))
print("a reader gets", len(read_log(lab.bootstrap, secrets)), "records; deleted, and in the file:", in_files)

# %%
lab.observed("Readers get the other 40 records only", len(read_log(lab.bootstrap, secrets)) == 40)
guess_8e.compare("60, until the whole segment goes" if in_files else "0")

# %% [markdown] explains="log start offset"
# The start of the log has moved to 60: its **log start offset**. Followers hear of it from their leader. The file is as it was, and the dump tool of lab 02 would show every password. The bytes go with their segment: when it is closed, and all of it lies before the start. Until then they are on every disk that has a replica.
#
# And even then there is a delay. Here a record of 1970 is deleted, because of its age:

# %%
gone = lab.fresh_topic("gone", config={"file.delete.delay.ms": "60000"})
writer.produce(gone, "a record of 1970", timestamp=1)
writer.flush()
wait_for_retention(lab)
leader = lab.cluster.state([gone]).topic(gone).partitions[0].leader
lines = lab.cluster.log(leader).read_text().splitlines()
said = [line for line in lines if f"partition={gone}-0" in line and "Deleting segment" in line]
print(said[-1].rpartition("] ")[2])
folder = lab.cluster.segments(gone, 0)[0].parent
sorted(file.name for file in folder.iterdir() if ".log" in file.name)

# %% [markdown] covers="E211" explains="file.delete.delay.ms"
# The broker's own log says why it has deleted a segment: look there when records are missing. The first file is no part of Kafka's log any more, and stays on the disk for `file.delete.delay.ms`, a minute by default. So a reader that is just being sent these bytes gets them to their end.
#
# A law may ask that the data of one person be gone. Then keep such a topic short, with small segments; or encrypt each person's records with a key of their own, and delete the key.

# %% [markdown]
# ### Exercise 8.4: Delete at once
#
# A program has written passwords into the topic `signups`, until it was mended at the time `mended` (in milliseconds). All records before that time shall be deleted now, in all three partitions, and no other record. A colleague has tried it with a topic of one partition, and took its offset for all:
#
# ```python
# asker = lab.consumer({"group.id": lab.group("cleaner")})
# place = asker.offsets_for_times([TopicPartition(signups, 0, mended)])[0]
# lab.admin().delete_records([TopicPartition(signups, p, place.offset) for p in range(3)])
# ```

# %%
from confluent_kafka import TopicPartition

from threebrokers.lab.scenarios import leaky_signups

signups, mended = leaky_signups(lab)
# TODO: delete, and set `starts`, {0: …, 1: …, 2: …}: the first offset that each partition has now
# BEGIN SOLUTION
asker = lab.consumer({"group.id": lab.group("cleaner")})
places = asker.offsets_for_times([TopicPartition(signups, p, mended) for p in range(3)], timeout=10)
told = lab.admin().delete_records(places)
starts = {place.partition: future.result().low_watermark for place, future in told.items()}
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Do all partitions get the same number of records until `mended`? Who knows which offset of a partition belongs to a time?
#
# </details>
# <details><summary>Another hint</summary>
#
# `offsets_for_times` takes several places, each with a time instead of an offset, and returns them with their offsets. `delete_records` returns a future for each partition, and `.result()` waits for its answer.
#
# </details>

# %% tags=["wrong"]
# one offset for all partitions | clean records of partition 1 are deleted, too
asker = lab.consumer({"group.id": lab.group("cleaner")})
place = asker.offsets_for_times([TopicPartition(signups, 0, mended)], timeout=10)[0]
told = lab.admin().delete_records([TopicPartition(signups, p, place.offset) for p in range(3)])
starts = {place.partition: future.result().low_watermark for place, future in told.items()}

# %% tags=["wrong"]
# one partition | partitions 1 and 2 still have
asker = lab.consumer({"group.id": lab.group("cleaner")})
places = asker.offsets_for_times([TopicPartition(signups, 0, mended)], timeout=10)
told = lab.admin().delete_records(places)
starts = {place.partition: future.result().low_watermark for place, future in told.items()}

# %% tags=["wrong"]
# up to the last one that should go | one record with a password is left
asker = lab.consumer({"group.id": lab.group("cleaner")})
places = asker.offsets_for_times([TopicPartition(signups, p, mended) for p in range(3)], timeout=10)
places = [TopicPartition(signups, p.partition, p.offset - 1) for p in places]
told = lab.admin().delete_records(places)
starts = {place.partition: future.result().low_watermark for place, future in told.items()}

# %% tags=["wrong"]
# everything | the clean ones too
places = [TopicPartition(signups, p, -1) for p in range(3)]
told = lab.admin().delete_records(places)
starts = {place.partition: future.result().low_watermark for place, future in told.items()}

# %% tags=["wrong"]
# records without a value | a record cannot take another one away here
eraser = lab.producer()
for number in range(72):
    eraser.produce(signups, None, key=str(number))
eraser.flush()
starts = {0: 30, 1: 18, 2: 24}

# %% tags=["wrong"]
# a new topic | the topic was made anew
signups = lab.fresh_topic("signups", partitions=3)
starts = {0: 0, 1: 0, 2: 0}

# %% tags=["wrong"]
# only looks for the places | partitions 0, 1 and 2 still have
asker = lab.consumer({"group.id": lab.group("cleaner")})
places = asker.offsets_for_times([TopicPartition(signups, p, mended) for p in range(3)], timeout=10)
starts = {place.partition: place.offset for place in places}

# %% tags=["wrong"]
# counts from 1 | `starts` says 31 for partition 0
asker = lab.consumer({"group.id": lab.group("cleaner")})
places = asker.offsets_for_times([TopicPartition(signups, p, mended) for p in range(3)], timeout=10)
told = lab.admin().delete_records(places)
starts = {place.partition: future.result().low_watermark + 1 for place, future in told.items()}

# %% tags=["right"]
# reads the log, and Kafka's own tool deletes
import json
import tempfile
from pathlib import Path

from threebrokers.kafka.log_reader import read_log

clean = [record for record in read_log(lab.bootstrap, signups) if record.timestamp >= mended]
starts = {p: min(record.offset for record in clean if record.partition == p) for p in range(3)}
parts = [{"topic": signups, "partition": p, "offset": offset} for p, offset in starts.items()]
with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
    Path(file.name).write_text(json.dumps({"partitions": parts, "version": 1}))
    told = lab.cluster.tool("kafka-delete-records", "--offset-json-file", file.name)

# %% tags=["nbval-check-output"]
lab.check.passwords_gone(signups, starts)

# %% [markdown] covers="B104"
# ### How large must the disks be?
#
# A replica must fit into one log directory of its broker. `log.dirs` names several, one for each disk; without it Kafka takes `/tmp/kafka-logs`, which many systems empty when they start. How much room a topic needs is told by its own files. Here are 500 records of 1,000 bytes, each sent as it comes in.

# %%
from threebrokers.lab.scenarios import stored_batches

meters = lab.fresh_topic("meters")
sender = lab.producer({"enable.idempotence": True, "batch.num.messages": 1})
for number in range(500):
    sender.produce(meters, bytes(1000), key=f"meter {number % 12}")
sender.flush()
stored_batches(lab, meters)[:2]

# %% [markdown]
# ### Exercise 8.5: How long can you keep it?
#
# Ten such records come in each second, day and night, into a topic with 12 partitions and three replicas. There are three brokers, and each has a disk of 100 GB (100,000,000,000 bytes) for nothing else. A fifth of each disk shall always stay free. Segments are as by default.
#
# Set `on_disk`: the bytes of one record in one replica, measured in the files. And `days`: the largest whole number of days that you can choose for `retention.ms`.

# %%
# TODO: set `on_disk` and `days`
# BEGIN SOLUTION
batches = stored_batches(lab, meters)
on_disk = sum(batch.size for batch in batches) / sum(batch.records for batch in batches)
days = int(80e9 / (10 * 24 * 60 * 60 * on_disk)) - 7
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# How many replicas of each partition does one disk hold? How many bytes come to it in a day? And is everything gone that is older than `retention.ms`?
#
# </details>
# <details><summary>Another hint</summary>
#
# With as many replicas as brokers, each disk holds the whole topic. In the first experiment of this lab the oldest record was almost `segment.ms` older than `retention.ms`.
#
# </details>

# %% tags=["wrong"]
# the value alone | the bytes of the value alone
on_disk = 1000
days = 79

# %% tags=["wrong"]
# all replicas together | all three replicas lie on three disks
on_disk = 3 * sum(path.stat().st_size for path in lab.cluster.segments(meters, 0)) / 500
days = 79

# %% tags=["wrong"]
# forgets the replicas | if each record were on one broker only
on_disk = sum(path.stat().st_size for path in lab.cluster.segments(meters, 0)) / 500
days = int(3 * 80e9 / (10 * 86_400 * on_disk)) - 7

# %% tags=["wrong"]
# forgets the head room | nothing stays free
on_disk = sum(path.stat().st_size for path in lab.cluster.segments(meters, 0)) / 500
days = int(100e9 / (10 * 86_400 * on_disk)) - 7

# %% tags=["wrong"]
# forgets the segment that is still open | they stay longer than retention.ms
on_disk = sum(path.stat().st_size for path in lab.cluster.segments(meters, 0)) / 500
days = int(80e9 / (10 * 86_400 * on_disk))

# %% tags=["wrong"]
# divides by the replicas | nothing is divided by three
on_disk = sum(path.stat().st_size for path in lab.cluster.segments(meters, 0)) / 500
days = int(80e9 / (10 * 86_400 * on_disk) / 3)

# %% tags=["wrong"]
# takes two segments away | with 71 days
on_disk = sum(path.stat().st_size for path in lab.cluster.segments(meters, 0)) / 500
days = int(80e9 / (10 * 86_400 * on_disk)) - 14

# %% tags=["wrong"]
# divides by the partitions | nothing is divided by twelve
on_disk = sum(path.stat().st_size for path in lab.cluster.segments(meters, 0)) / 500
days = int(80e9 / (10 * 86_400 * on_disk) / 12)

# %% tags=["wrong"]
# adds the segment | taken away, not added
on_disk = sum(path.stat().st_size for path in lab.cluster.segments(meters, 0)) / 500
days = int(80e9 / (10 * 86_400 * on_disk)) + 7

# %% tags=["wrong"]
# keeps less free than a fifth | less than a fifth of a disk stays free
on_disk = sum(path.stat().st_size for path in lab.cluster.segments(meters, 0)) / 500
days = int(95e9 / (10 * 86_400 * on_disk)) - 7

# %% tags=["wrong"]
# gives milliseconds | seems to be in milliseconds
on_disk = sum(path.stat().st_size for path in lab.cluster.segments(meters, 0)) / 500
days = 78 * 24 * 60 * 60 * 1000

# %% tags=["wrong"]
# not rounded down | which is not whole
on_disk = sum(path.stat().st_size for path in lab.cluster.segments(meters, 0)) / 500
days = 80e9 / (10 * 86_400 * on_disk) - 7

# %% tags=["right"]
# from the size of the file, a little less
on_disk = sum(path.stat().st_size for path in lab.cluster.segments(meters, 0)) // 500
days = 77.0

# %% tags=["nbval-check-output"]
lab.check.fits_on_disk(on_disk, days)

# %% [markdown] covers="E026" explains="log.retention.hours"
# ### Who says so?
#
# For a broker the same bounds have older names, in three units: `log.retention.hours`, `.minutes`, `.ms`. Here is what broker 1 says:

# %%
from threebrokers.lab.scenarios import broker_settings

times = ["log.retention.ms", "log.retention.minutes", "log.retention.hours", "log.roll.ms", "log.roll.hours"]
others = ["log.retention.bytes", "log.segment.bytes", "remote.log.storage.system.enable"]
broker_settings(lab, [*times, *others])

# %% [markdown] covers="E220 E221" explains="segment.jitter.ms, preallocate, segment.index.bytes"
# Where nothing is set, the next larger unit counts: `ms` before `minutes` before `hours`. And the topic's own `retention.ms` goes before all three. So if you find seven days in `hours`, look whether `minutes` or `ms` says something else: the smallest unit that is set counts.
#
# | for one topic | default | what it does |
# |---|---|---|
# | `retention.ms`, `retention.bytes` | 7 days, none | when a segment goes |
# | `segment.ms`, `segment.bytes` | 7 days, 1 GB | when a new one begins |
# | `segment.jitter.ms` | 0 | begins it up to so much earlier, at random: not all partitions at once |
# | `segment.index.bytes` | 10 MB | room for an index; when it is full, a new segment begins |
# | `preallocate` | false | reserves the whole file of a new segment at once |
# | `file.delete.delay.ms` | 1 minute | how long the files of a deleted segment stay |

# %% [markdown] covers="D138 E214"
# ### What an index knows
#
# Beside each segment lies its index: pairs of an offset (counted from the segment's first) and a position in the file, of 4 bytes each. Two topics get the same 2,000 records; one of them has a denser index.

# %%
import struct

from threebrokers.lab.scenarios import stored_batches

indexes = {}
for name, distance in {"sparse": 4096, "dense": 128}.items():
    topic = lab.fresh_topic(name, config={"index.interval.bytes": str(distance)})
    clock = lab.producer({"enable.idempotence": True, "batch.num.messages": 1})
    for number in range(2000):
        clock.produce(topic, f"tick {number}")
    clock.flush()
    path = lab.cluster.segments(topic, 0)[0].with_suffix(".index")
    indexes[name] = [pair for pair in struct.iter_unpack(">ii", path.read_bytes()) if any(pair)]
    print(f"{name}: {len(indexes[name])} entries, the first three: {indexes[name][:3]}")

# %% [markdown]
# To find offset 1,500, a broker looks for the last entry before it, by halving, and reads on from that position. Everything in an index can be computed from the log itself:


# %%
def computed(batches, distance):
    position = since = 0
    for batch in batches:
        if since > distance:
            yield batch.base_offset + batch.records - 1, position
            since = 0
        position, since = position + batch.size, since + batch.size


again = {
    name: list(computed(stored_batches(lab, lab.topic(name)), distance))
    for name, distance in {"sparse": 4096, "dense": 128}.items()
}
lab.observed("Both indexes are what the log itself tells", again == indexes)

# %% [markdown] covers="D139"
# So an index needs no backup: when a broker starts, it makes anew each index that is missing, and after a crash also the indexes of the segments that it must check. That takes time, because it must read the whole segment. (A damaged index of another segment is not noticed. Stop the broker, delete the `.index` file, and the broker makes a new one when it starts.)

# %% [markdown] covers="B013 A021"
# ### What a log is good at
#
# "Reading is as fast from a large log as from a small one." Is it? The same record is looked for in a log of 1 MB and in one of 60 MB: by its offset, by its time, by its key. The numbers are milliseconds.

# %%
from threebrokers.lab.scenarios import lookup_times

lookups = lookup_times(lab)
lab.observed(
    "By key, the large log took more than five times as long",
    lookups.loc["its key", "60 MB"] > 5 * lookups.loc["its key", "1 MB"],
)
lookups.round(1)

# %% [markdown]
# By offset and by time it makes no difference: the indexes lead to the place, and reading goes on from there. For a key there is no index, so somebody has to read everything. A log is made for going through in order. For single things by name, put them into a database, which reads the log and keeps what you ask for.

# %% [markdown] covers="A045 B028" explains="tiered storage, local.retention.ms, remote.storage.enable"
# ### For ever
#
# With `retention.ms=-1` a topic keeps everything. A newspaper has all its articles since 1851 in one partition, less than 100 GB: whoever makes a new search index reads it from the start. For other topics disks on every replica are too expensive, so old records go to files elsewhere (lab 12 reads topics into tables).
#
# **Tiered storage** (KIP-405, ready since Kafka 3.9) does it inside Kafka. With `remote.storage.enable=true` a leader copies each *closed* segment into a store such as S3. What that changes:
#
# - There are two bounds. `local.retention.ms` (or `.bytes`) says what stays on the brokers' disks, for example hours; `retention.ms` says when a record is gone everywhere. (Unless you set the first one it is as long as the second, and no disk gets smaller.)
# - The disks of this lab's calculation need room for hours, not for months. Kafka puts one copy into the far store, not three.
# - A new replica copies only what is local, so a broker is replaced sooner.
# - Readers notice nothing but time: an old record comes through the broker from the far store.
# - The active segment is never there, so `segment.ms` and `segment.bytes` matter more. Compacted topics cannot use it.
# - Kafka brings no plugin for a real store; you add one. That is why it is off here, as the table above says.
#
# Services that you rent sell the same. In Amazon's Kinesis a partition is called shard, records stay for 24 hours unless you pay for more, up to a year, and nobody looks after brokers.

# %% [markdown]
# Compare with the [solution](../solutions/08_retention.ipynb). Next lab: [How does a log become a table?](09_compaction.ipynb)
