# %% [markdown]
# # Who gets what?
#
# **You will** share a topic's partitions among workers, find the partitions where a group falls behind, and choose how a group behaves when its members come, go, and work for too long.
#
# *{minutes} minutes, and {further} more if you go further. You need lab 01: consumer group, committed offset. There is a place to pause in the middle.*

# %%
from threebrokers import open_lab

lab = open_lab("07")

# %% [markdown]
# Three questions from earlier labs, to see what is still there:

# %%
lab.review()

# %% [markdown] covers="B038 B027 A141 D058 D059 E004 A154 C022 D067" explains="members, rebalance"
# ## First half: one group shares the work
#
# Help desks have a topic of tickets, and clerks who work on them. Each clerk is a consumer, and all are in one **group**: its **members**. The group gives each partition to one member at a time. So inside a group a topic works as a queue: each ticket goes to one clerk.
#
# When a member comes or goes, the group shares out the partitions again: that is a **rebalance**. Watch one group grow. The panel shows who has which partition:

# %%
tickets = lab.fresh_topic("tickets", partitions=6, replication_factor=3)
lab.watch(tickets, group=lab.group("desk"))

# %% [markdown]
# Each clerk needs 15 ms for a ticket. There are 20 tickets in each of the six partitions, first for one clerk, then for three, four and seven. Each number of clerks does that three times, and the quickest time counts: other work on this machine only makes it longer.

# %%
guess_7a = lab.predict("7.a")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_7a.choose("as long as three")
# END SOLUTION

# %% [markdown]
# `Team` is a helper of this course: members of one group, named A, B, C and so on. Each works in a thread of its own until the `with` ends.

# %%
import pandas as pd

from threebrokers.lab.scenarios import Team

rows = []
with Team(lab, tickets, lab.group("desk"), seconds=0.015) as desk, lab.record(tickets) as growing:
    for size in (1, 3, 4, 7):
        desk.grow(size)
        rows.append(desk.work_off(20))

work = pd.DataFrame(rows).set_index("members")
work

# %%
needed = work["seconds"]
lab.observed("Three clerks were faster than one", needed[3] < 0.6 * needed[1])
lab.observed("Of seven clerks one had nothing to do", work["partitions of each"][7].endswith("0"))
ratio = needed[4] / needed[3]
guess_7a.compare(
    "as long as three" if ratio > 0.87 else "three quarters of that" if ratio > 0.6 else "half of that"
)

# %% [markdown]
# The slowest member decides. Six partitions cannot be divided by four: two clerks have two, as with three clerks. So the number of partitions is the largest number of members that have work, and good numbers of members divide it. That is why many topics have 12 partitions: 2, 3, 4, 6 and 12 members share them evenly.
#
# And this is how the group came to that. Each row is a member: its partitions, and a stroke for each record.

# %%
growing.members()

# %% [markdown] covers="D061 E069 E073 A155"
# Who computes this? One of the members, for all (more in *Going further*). With this client's default, **range**, each member gets partitions that lie side by side, and the first members get one more if there is a rest.

# %% [markdown] covers="B043 D060 A147"
# ### Exercise 7.1: Three workers share the load
#
# 300 jobs of 100 customers are to be done by three workers. Each job should be done once, and all jobs of a customer by the same worker, in their order. A colleague has written this:

# %%
from secrets import token_hex

from threebrokers.lab.scenarios import jobs, work_together

jobs_before = lab.fresh_topic("jobs-before", partitions=6)
ledger_before = lab.ledger("jobs-before")
sender = ledger_before.producer()
for job in jobs():  # a job has a number, a customer, a country, and a value to send
    sender.produce(jobs_before, job.value, key=job.country)
sender.flush()
first_try = [
    ledger_before.consumer({"group.id": lab.group(f"jobs-{name}"), "auto.offset.reset": "earliest"})
    for name in (token_hex(2), token_hex(2), token_hex(2))
]
print("done by each worker:", work_together(lab, jobs_before, ledger_before, first_try))
ledger_before.balance(jobs_before)

# %% [markdown]
# `work_together` lets the workers read side by side until nothing comes any more, and notes in the ledger what each has done. Two things are wrong with these lines; you see the second when the first is mended. Mend them.

# %%
jobs_topic = lab.fresh_topic("jobs", partitions=6)
share_ledger = lab.ledger("jobs")
team = lab.group(f"jobs-{token_hex(2)}")  # another name each time this cell runs
# TODO: make `producer` and send every job, make `workers`, and let them work
# BEGIN SOLUTION
producer = share_ledger.producer()
for job in jobs():
    producer.produce(jobs_topic, job.value, key=job.customer)
producer.flush()
workers = [share_ledger.consumer({"group.id": team, "auto.offset.reset": "earliest"}) for _ in range(3)]
print("done by each worker:", work_together(lab, jobs_topic, share_ledger, workers))
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# *Processed again* in the table counts each time that a job was done again: how many groups are there? Then look at the three numbers: what do the jobs of the busiest worker have in common?
#
# </details>
# <details><summary>Another hint</summary>
#
# Members of one group have the same `group.id`. The key chooses the partition (lab 02), and a job knows its `number`, its `customer` and its `country`.
#
# </details>

# %% tags=["wrong"]
# three groups | the workers are in 3 groups
producer = share_ledger.producer()
for job in jobs():
    producer.produce(jobs_topic, job.value, key=job.customer)
producer.flush()
workers = [
    share_ledger.consumer({"group.id": f"{team}-{n}", "auto.offset.reset": "earliest"}) for n in range(3)
]
print(work_together(lab, jobs_topic, share_ledger, workers))

# %% tags=["wrong"]
# mends the groups only | the key is the country
producer = share_ledger.producer()
for job in jobs():
    producer.produce(jobs_topic, job.value, key=job.country)
producer.flush()
workers = [share_ledger.consumer({"group.id": team, "auto.offset.reset": "earliest"}) for _ in range(3)]
print(work_together(lab, jobs_topic, share_ledger, workers))

# %% tags=["wrong"]
# no key, so that the load is even | no record has a key
producer = share_ledger.producer({"sticky.partitioning.linger.ms": 0})
for job in jobs():
    producer.produce(jobs_topic, job.value)
producer.flush()
workers = [share_ledger.consumer({"group.id": team, "auto.offset.reset": "earliest"}) for _ in range(3)]
print(work_together(lab, jobs_topic, share_ledger, workers))

# %% tags=["wrong"]
# the number of the job as a key | the key is the job
producer = share_ledger.producer()
for job in jobs():
    producer.produce(jobs_topic, job.value, key=str(job.number))
producer.flush()
workers = [share_ledger.consumer({"group.id": team, "auto.offset.reset": "earliest"}) for _ in range(3)]
print(work_together(lab, jobs_topic, share_ledger, workers))

# %% tags=["wrong"]
# gives the partitions out by hand | with assign()
from confluent_kafka import TopicPartition

producer = share_ledger.producer()
for job in jobs():
    producer.produce(jobs_topic, job.value, key=job.customer)
producer.flush()
workers = [share_ledger.consumer({"group.id": team, "auto.offset.reset": "earliest"}) for _ in range(3)]
for n, worker in enumerate(workers):
    worker.assign([TopicPartition(jobs_topic, p, 0) for p in (n, n + 3)])
print(work_together(lab, jobs_topic, share_ledger, workers))

# %% tags=["wrong"]
# two workers | `workers` holds 2 consumers
producer = share_ledger.producer()
for job in jobs():
    producer.produce(jobs_topic, job.value, key=job.customer)
producer.flush()
workers = [share_ledger.consumer({"group.id": team, "auto.offset.reset": "earliest"}) for _ in range(2)]

# %% tags=["wrong"]
# begins at the end of the log | jobs were not done
producer = share_ledger.producer()
for job in jobs():
    producer.produce(jobs_topic, job.value, key=job.customer)
producer.flush()
workers = [share_ledger.consumer({"group.id": team}) for _ in range(3)]
print(work_together(lab, jobs_topic, share_ledger, workers))

# %% tags=["wrong"]
# the last job first | stand in the order
producer = share_ledger.producer()
for job in reversed(jobs()):
    producer.produce(jobs_topic, job.value, key=job.customer)
producer.flush()
workers = [share_ledger.consumer({"group.id": team, "auto.offset.reset": "earliest"}) for _ in range(3)]
print(work_together(lab, jobs_topic, share_ledger, workers))

# %% tags=["wrong"]
# deals the partitions out in turn, beside the key | have one key and are in
producer = share_ledger.producer()
for job in jobs():
    producer.produce(jobs_topic, job.value, key=job.customer, partition=job.number % 6)
producer.flush()
workers = [share_ledger.consumer({"group.id": team, "auto.offset.reset": "earliest"}) for _ in range(3)]
print(work_together(lab, jobs_topic, share_ledger, workers))

# %% tags=["right"]
# Java's partitioner and the new protocol
producer = share_ledger.producer({"partitioner": "murmur2_random"})
for job in jobs():
    producer.produce(jobs_topic, job.value, key=job.customer)
producer.flush()
own = {"group.id": team, "auto.offset.reset": "earliest", "group.protocol": "consumer"}
workers = [share_ledger.consumer(own) for _ in range(3)]
print(work_together(lab, jobs_topic, share_ledger, workers))

# %% tags=["nbval-check-output"]
lab.check.load_shared(workers)

# %% [markdown] covers="B002 D002 D019 B019"
# ## Is the group behind?
#
# Each group has its own committed offsets, so groups do not disturb each other. A queue system would delete what was handed out; a log keeps it, read or not, for as long as its settings say (lab 08).
#
# A group's **lag** in a partition is the end of what consumers may see (lab 03), less what the group has committed: the records still to be read, if no offset is missing (lab 02). If the log ends at 12, group A has committed 6 and group B 9, A's lag is 6 and B's 3. If lag grows, records come in faster than the group works.

# %% [markdown]
# ### Exercise 7.2: Where is the group behind?
#
# A group reads the topic `backlog`, with five partitions. It has never committed anything for partition 3, where it will begin at the start of the log. The oldest records of that partition have been deleted. A colleague's function tells the lag of each partition:

# %%
from confluent_kafka import TopicPartition

from threebrokers.lab.scenarios import an_hour_later, new_backlog


def lag_before(group, topic):
    asker = lab.consumer({"group.id": group})  # it never subscribes, so it is no member
    places = asker.committed([TopicPartition(topic, p) for p in range(5)])
    ends = [asker.get_watermark_offsets(place)[1] for place in places]
    return {place.partition: end - place.offset for place, end in zip(places, ends, strict=True)}


backlog, readers = new_backlog(lab, "backlog-before")  # the names of the topic and of the group
lag_before(readers, backlog)

# %% [markdown]
# One of these numbers cannot be true. Write `lag_of(group, topic)`, which is right, and keep what it tells as `before`. Let an hour pass with `an_hour_later(lab, backlog, readers)`. Keep the lags again, as `after`. Then set `worse`: the list of the partitions about which you would call a colleague, because their lag grows.

# %%
backlog, readers = new_backlog(lab)


# TODO: write lag_of(group, topic), then set `before`, let an hour pass, set `after` and `worse`
# BEGIN SOLUTION
def lag_of(group, topic):
    asker = lab.consumer({"group.id": group})
    lags = {}
    for place in asker.committed([TopicPartition(topic, p) for p in range(5)]):
        start, end = asker.get_watermark_offsets(place)
        lags[place.partition] = end - max(place.offset, start)
    return lags


before = lag_of(readers, backlog)
an_hour_later(lab, backlog, readers)
after = lag_of(readers, backlog)
worse = [p for p in after if after[p] > before[p]]
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Print `places` for partition 3. Which offset does it show, and which offset does the group begin at? And is a large lag the same as a lag that grows?
#
# </details>
# <details><summary>Another hint</summary>
#
# Where nothing is committed, `committed()` returns the offset -1001 (`OFFSET_INVALID`). `get_watermark_offsets()` returns two numbers. `worse` needs both dictionaries: compare them partition by partition.
#
# </details>

# %% tags=["wrong"]
# takes the sign for 'none' as an offset | this client says -1001
lag_of = lag_before
before = lag_before(readers, backlog)
an_hour_later(lab, backlog, readers)
after = lag_before(readers, backlog)
worse = [p for p in after if after[p] > before[p]]


# %% tags=["wrong"]
# takes each log to begin at 0 | as if its log began at 0
def lag_of(group, topic):
    asker = lab.consumer({"group.id": group})
    places = asker.committed([TopicPartition(topic, p) for p in range(5)])
    ends = [asker.get_watermark_offsets(place)[1] for place in places]
    return {p.partition: end - max(p.offset, 0) for p, end in zip(places, ends, strict=True)}


before = lag_of(readers, backlog)
an_hour_later(lab, backlog, readers)
after = lag_of(readers, backlog)
worse = [p for p in after if after[p] > before[p]]

# %% tags=["wrong"]
# leaves out the partition without an offset | says nothing of partition 3
lag_of = lag_before
before = {p: lag for p, lag in lag_before(readers, backlog).items() if lag < 1000}
an_hour_later(lab, backlog, readers)
after = {p: lag for p, lag in lag_before(readers, backlog).items() if lag < 1000}
worse = [1]

# %% tags=["wrong"]
# committed offsets | holds the committed offsets
lag_of = lag_before
asker = lab.consumer({"group.id": readers})
places = [TopicPartition(backlog, p) for p in range(5)]
before = {place.partition: max(place.offset, 0) for place in asker.committed(places)}
an_hour_later(lab, backlog, readers)
after = {place.partition: max(place.offset, 0) for place in asker.committed(places)}
worse = [p for p in after if after[p] > before[p]]

# %% tags=["wrong"]
# seconds since the record that was read last, by the client's clock | is no number of records
lag_of = lag_before
before = {0: 8.4, 1: 0.6, 2: 0.2, 3: 61.5, 4: 1.3}
an_hour_later(lab, backlog, readers)
after = {0: 2.1, 1: 4.9, 2: 0.2, 3: 3661.5, 4: 1.3}
worse = [p for p in after if after[p] > before[p]]

# %% tags=["wrong"]
# the sum of all | should be a dictionary
lag_of = lag_before
before = sum(lag_before(readers, backlog).values())
an_hour_later(lab, backlog, readers)
after = sum(lag_before(readers, backlog).values())
worse = []

# %% tags=["wrong"]
# the largest lag | whose lag shrinks
lag_of = lag_before
before = {0: 400, 1: 10, 2: 0, 3: 40, 4: 50}
an_hour_later(lab, backlog, readers)
after = {0: 120, 1: 100, 2: 0, 3: 60, 4: 50}
worse = [0]

# %% tags=["wrong"]
# every partition that is behind | whose lag stays as it is
lag_of = lag_before
before = {0: 400, 1: 10, 2: 0, 3: 40, 4: 50}
an_hour_later(lab, backlog, readers)
after = {0: 120, 1: 100, 2: 0, 3: 60, 4: 50}
worse = [1, 3, 4]

# %% tags=["wrong"]
# no hour passes | `after` is what `before` was
lag_of = lag_before
before = after = {0: 400, 1: 10, 2: 0, 3: 40, 4: 50}
worse = []

# %% tags=["wrong"]
# forgets the partition that nobody has read | leaves out partition 3
lag_of = lag_before
before = {0: 400, 1: 10, 2: 0, 3: 40, 4: 50}
an_hour_later(lab, backlog, readers)
after = {0: 120, 1: 100, 2: 0, 3: 60, 4: 50}
worse = [1]


# %% tags=["wrong"]
# copies the numbers of the group at hand | returns 400 for partition 0
def lag_of(group, topic):
    return {0: 400, 1: 10, 2: 0, 3: 40, 4: 50}


before = lag_of(readers, backlog)
an_hour_later(lab, backlog, readers)
after = {0: 120, 1: 100, 2: 0, 3: 60, 4: 50}
worse = [1, 3]


# %% tags=["wrong"]
# asks about one group, whichever it is given | returns 120 for partition 0
def lag_of(group, topic):
    lags = lag_before(readers, backlog)
    return {**lags, 3: lags[3] - 1061}  # -1001 and the start of the log


before = lag_of(readers, backlog)
an_hour_later(lab, backlog, readers)
after = lag_of(readers, backlog)
worse = [p for p in after if after[p] > before[p]]


# %% tags=["wrong"]
# asks about one topic, whichever it is given | of another topic
def lag_of(group, topic):
    asker = lab.consumer({"group.id": group})
    lags = {}
    for place in asker.committed([TopicPartition(backlog, p) for p in range(5)]):
        start, end = asker.get_watermark_offsets(place)
        lags[place.partition] = end - max(place.offset, start)
    return lags


before = lag_of(readers, backlog)
an_hour_later(lab, backlog, readers)
after = lag_of(readers, backlog)
worse = [p for p in after if after[p] > before[p]]

# %% tags=["right"]
# a plain consumer says what is committed, the admin client where the logs end
from confluent_kafka import Consumer
from confluent_kafka.admin import OffsetSpec


def lag_of(group, topic):
    places = [TopicPartition(topic, p) for p in range(5)]
    asker = Consumer({"bootstrap.servers": lab.bootstrap, "group.id": group})
    committed = {place.partition: place.offset for place in asker.committed(places, timeout=10)}
    asker.close()
    starts = lab.admin().list_offsets({place: OffsetSpec.earliest() for place in places})
    ends = lab.admin().list_offsets({place: OffsetSpec.latest() for place in places})
    begins = {place.partition: future.result().offset for place, future in starts.items()}
    return {
        place.partition: future.result().offset - max(committed[place.partition], begins[place.partition])
        for place, future in ends.items()
    }


before = lag_of(readers, backlog)
an_hour_later(lab, backlog, readers)
after = lag_of(readers, backlog)
worse = {p for p in before if after[p] > before[p]}

# %% tags=["nbval-check-output"]
lab.check.lag_known(lag_of, before, after, worse)

# %% [markdown]
# `kafka-consumer-groups --describe` shows the same where something is committed. (If the records at that place are deleted, the tool counts them, and your function does not.) A partition without a commit has a line, with `-`, only while a member has it. (Where old records were deleted, a log does not begin at 0: `get_watermark_offsets` returns its start, too.) Beware of lag that a client tells of itself: a client that has died tells nothing. Ask the brokers.
#
# *Here is a good place to pause. The second half needs nothing of the first; run the first cell again when you come back.*

# %% [markdown] covers="D063 A145 D065 C023 E065 D064 B062" explains="heartbeat, session"
# ## Second half: members come and go
#
# One broker is the group's **coordinator**. Each member sends it **heartbeats**. If they stop for `session.timeout.ms`, the **session** is over, and the others get the member's partitions.
#
# Four members will share the tickets: A, B, C, and a clerk who is a program of its own, so that it can be killed. Watch them come and go in the panel, and how far the group is behind:

# %%
tickets = lab.fresh_topic("tickets", partitions=6, replication_factor=3)
lab.watch(tickets, group=lab.group("leaving"))

# %% [markdown]
# The clerk's `settings` are those of all four:

# %%
# %%program clerk
settings = {"session.timeout.ms": 2000, "max.poll.interval.ms": 3000, "heartbeat.interval.ms": 200}
clerk = lab.consumer({"group.id": lab.group("leaving"), "client.id": "clerk", **settings})
clerk.subscribe([lab.topic("tickets")], on_assign=lambda consumer, places: print("at work:", len(places)))
while True:
    clerk.poll(0.1)

# %% [markdown]
# `Stream` sends tickets all the time, to every partition. First B closes its consumer, and the clerk's process is killed. Lab 06 told what follows from each. Then C hangs: its code works on one ticket for 8 s, and does not call `poll()` meanwhile.

# %%
guess_7b = lab.predict("7.b")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_7b.choose("3 s")
# END SOLUTION

# %%
import pandas as pd

from threebrokers.lab.scenarios import Stream, Team

group, patience = lab.group("leaving"), {"session.timeout.ms": 2000, "max.poll.interval.ms": 3000}
clerk, waited = lab.program("clerk", restart=True), {}
clerk.wait_for("at work", within=30)
with Stream(lab, tickets), Team(lab, tickets, group, patience) as others, lab.record(tickets) as leaving:
    others.grow(3, beside=1)
    lab.wait_until(lambda: others["B"].handled > 99, what="B to do 100 tickets", within=30)
    for event, member, leave in (
        ("B closes", "B", others["B"].leave),
        ("the clerk is killed", "clerk", clerk.kill),
        ("C hangs", "C", lambda: others["C"].busy(lab, 8)),
    ):
        leaving.mark(event)
        waited[event] = others.take_over(member, leave)
pd.DataFrame(waited, index=["missed after (s)", "partitions waited (s)"]).T.round(1)

# %%
closed, killed, hung = (seconds.missed for seconds in waited.values())
lab.observed("Who closes its consumer is missed before a session ends", closed < 2)
lab.observed("Who is killed is missed when its session is over", 1 < killed < hung)
guess_7b.compare("8 s" if hung > 7 else "3 s" if hung > 2.8 else "2 s")

# %% [markdown] covers="D078 C030 E059" explains="max.poll.interval.ms"
# - **close**: the member says that it leaves.
# - **kill**: nobody says anything. The coordinator does not listen to broken connections: a member may come back on another one. So the session counts. By default it is 45 s, with a heartbeat every 3 s (one third of the session is the most that is wise).
# - **hang**: C's heartbeats went on all the time! A thread of the client sends them, also while your code works. But there is a second clock, `max.poll.interval.ms`: it says how long your code may work between two polls. When it is over, the client itself leaves the group. The default is 5 minutes.
#
# The session counts from the last heartbeat, so the clerk may be missed a little before 2 s have passed. C's client looks twice a second whether its time is over. The others hear of both with their next heartbeat. Together that may be a second and more. Then they share out the partitions, which wait until that is done; on a busy machine this takes seconds.

# %% [markdown] covers="B099"
# Here are the members of this program, each with what it was told itself. In the end A is alone and gets every ticket. But C's row still has its partitions: C hears that they are lost only at its next `poll()`.

# %%
leaving.members()

# %% [markdown]
# A short session finds a dead member soon. It also takes one for dead whose heartbeats come late, over a slow network or from a machine that stands still for a moment.

# %% [markdown] covers="E055 C024 D062 B089"
# ## And when a member joins?
#
# New group: A, B and C share 12 partitions, with this client's default settings. C is busy with one record, for more than a second. In this moment D joins. A and B have nothing to do with either of them.

# %%
guess_7c = lab.predict("7.c")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_7c.choose("as long as C is busy")
# END SOLUTION

# %%
from threebrokers.lab.scenarios import newcomer, who_stopped

joined_before = newcomer(lab, {})
print(who_stopped(joined_before))
joined_before.members()

# %%
stopped = who_stopped(joined_before)["A and B stop for"]
shortly = "for a moment" if stopped else "they go on"
guess_7c.compare("as long as C is busy" if stopped > 0.6 else shortly)

# %% [markdown] explains="eager, cooperative-sticky, KIP-848, group.protocol, partition.assignment.strategy"
# This is an **eager** rebalance: every member gives up *all* its partitions, and all wait until the last one has done that. C does so at its next poll. At worst everybody waits for `max.poll.interval.ms`.
#
# A consumer can say how its group works:
#
# | setting | values |
# |---|---|
# | `group.protocol` | `classic`: the members divide the partitions among themselves; `consumer`: the coordinator does (KIP-848, since Kafka 4.0) |
# | `partition.assignment.strategy`, only for `classic` | `range` and `roundrobin` are eager; `cooperative-sticky` leaves everybody what it keeps |
# | `session.timeout.ms`, `heartbeat.interval.ms`, only for `classic` | with `consumer` they are settings of the brokers, or of a group (`kafka-configs --entity-type groups`) |

# %% [markdown] covers="E056"
# ### Exercise 7.3: A member joins and nobody else stops
#
# Set `settings`, so that A and B go on, and D begins to work *while C is still busy*. Run `newcomer` with them: `joined` is its recording.

# %%
# TODO: set `settings`, and `joined`, the recording that newcomer(lab, settings) returns
# BEGIN SOLUTION
settings = {"group.protocol": "consumer"}
joined = newcomer(lab, settings)
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# `who_stopped(joined)` gives three numbers. Which of the settings above change the first one, and which also the second? Who must have answered before D gets anything?
#
# </details>
# <details><summary>Another hint</summary>
#
# In the classic protocol all members meet at one time, in every strategy. In the other one the coordinator speaks with each member by itself. If the client refuses your settings, read its error: it names the setting.
#
# </details>

# %% tags=["wrong"]
# changes nothing | with the default settings all members
settings = {}
joined = newcomer(lab, settings)

# %% tags=["wrong"]
# stops nobody, and waits for C | A and B went on, but D
settings = {"partition.assignment.strategy": "cooperative-sticky"}
joined = newcomer(lab, settings)

# %% tags=["wrong", "raises-exception"]
# the new protocol with a setting of the old one | is not supported for
settings = {"group.protocol": "consumer", "session.timeout.ms": 6000}
joined = newcomer(lab, settings)

# %% tags=["wrong", "raises-exception"]
# Java's name of an assignor | Unsupported partition.assignment.strategy
settings = {"partition.assignment.strategy": "sticky"}
joined = newcomer(lab, settings)

# %% tags=["wrong"]
# heartbeats more often | heartbeat.interval.ms does not change that
settings = {"heartbeat.interval.ms": 50}
joined = newcomer(lab, settings)

# %% tags=["wrong"]
# gives the recording from above | is an earlier recording
joined = joined_before

# %% tags=["nbval-check-output"]
lab.check.nobody_stopped(joined)

# %% [markdown]
# Now three groups at once, in one recording: the same 12 partitions, the same moment, three ways.

# %%
from threebrokers.lab.scenarios import newcomers

ways = {
    "eager": {"partition.assignment.strategy": "range"},
    "cooperative": {"partition.assignment.strategy": "cooperative-sticky"},
    "new": {"group.protocol": "consumer"},
}
compared = newcomers(lab, ways)
compared.members()

# %%
table = pd.DataFrame({way: who_stopped(compared, way) for way in ways}).T
stopped = table["A and B stop for"] > 0.3
lab.observed("Only in the eager group A and B stopped", list(stopped) == [True, False, False])
waited = table["D gets its first record after"] > table["C is free after"]
lab.observed("Only in the new protocol D did not wait for C", list(waited) == [True, True, False])
table.round(2).add_suffix(" (s)")

# %% [markdown] covers="E071 E072 A156"
# - **Eager**: everybody stops, whatever each of them keeps. Caches and counts that belong to a partition must be built again.
# - **Cooperative**: two rounds. In the first, members say what they have, and keep it. Who has too much gives that up at its next poll. When all have done so, D gets it in the second round. So D waited for C, and what A and B gave up had no owner meanwhile.
# - **New protocol**: the coordinator knows who shall have what. It tells each member with the answer to its heartbeat. D gets what A and B have given up, and C's part when C comes back.
#
# How does a running group change over? To the new protocol: restart one member after the other, for members of both protocols can be in one group meanwhile. From eager to cooperative: with this client all members must stop first; Java's can do it in two rounds of restarts.

# %% [markdown] covers="A153"
# ## The worker that is thrown out
#
# A clinic's worker examines 24 scans, 0.15 s each. To make it quick to see, `max.poll.interval.ms` is 2.5 s here. The worker's other settings are in `clinic.settings`: a session of 2.5 s, heartbeats every 0.2 s, no automatic commits. `clinic.open` is true until the group has committed all 24 scans. It also becomes false 5 s after the last scan that was examined, or 8 s after you first ask for it if none was. And it becomes false after 36 scans, because then some came again.

# %% [markdown]
# ### Exercise 7.4: The worker that is thrown out
#
# This worker is thrown out of its group, begins again, is thrown out again:
#
# ```python
# worker = clinic.ledger.consumer({**clinic.settings, "max.poll.interval.ms": 2500})
# worker.subscribe([clinic.scans])
# while clinic.open:
#     for scan in worker.consume(24, timeout=0.2):
#         clinic.examine(scan)
#     worker.commit()
# ```
#
# Run these lines, and look at `clinic.ledger.balance(clinic.scans)`. Then mend them: each scan should be examined once, and the worker stay a member. You cannot make a scan quicker.

# %%
from threebrokers.lab.scenarios import Clinic

clinic = Clinic(lab)  # 24 scans in a new topic, and a ledger
# TODO: make the `worker` and its loop
# BEGIN SOLUTION
worker = clinic.ledger.consumer({**clinic.settings, "max.poll.interval.ms": 2500})
worker.subscribe([clinic.scans])
while clinic.open:
    for scan in worker.consume(6, timeout=0.2):
        clinic.examine(scan)
    worker.commit()
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# How long does the worker work between two calls of `consume()`? Which of the two clocks is that, and what are the two ways to keep the promise?
#
# </details>
# <details><summary>Another hint</summary>
#
# Fewer scans at once, or a longer `max.poll.interval.ms`. The session has nothing to do with it: heartbeats come from another thread.
#
# </details>

# %% tags=["wrong"]
# leaves it as it is | than max.poll.interval.ms (2500)
worker = clinic.ledger.consumer({**clinic.settings, "max.poll.interval.ms": 2500})
worker.subscribe([clinic.scans])
while clinic.open:
    for scan in worker.consume(24, timeout=0.2):
        clinic.examine(scan)
    worker.commit()

# %% tags=["wrong", "raises-exception"]
# a longer session | ended in an error
long = {"session.timeout.ms": 45000, "max.poll.interval.ms": 2500}
worker = clinic.ledger.consumer({**clinic.settings, **long})
worker.subscribe([clinic.scans])

# %% tags=["wrong"]
# a shorter session | the session ends if heartbeats stop
short = {"max.poll.interval.ms": 2500, "session.timeout.ms": 1500}
worker = clinic.ledger.consumer({**clinic.settings, **short})
worker.subscribe([clinic.scans])
while clinic.open:
    for scan in worker.consume(24, timeout=0.2):
        clinic.examine(scan)
    worker.commit()

# %% tags=["wrong"]
# heartbeats more often | heartbeats come from a thread
often = {"max.poll.interval.ms": 2500, "heartbeat.interval.ms": 100}
worker = clinic.ledger.consumer({**clinic.settings, **often})
worker.subscribe([clinic.scans])
while clinic.open:
    for scan in worker.consume(24, timeout=0.2):
        clinic.examine(scan)
    worker.commit()

# %% tags=["wrong"]
# commits before the work | a crash would have lost
worker = clinic.ledger.consumer({**clinic.settings, "max.poll.interval.ms": 2500})
worker.subscribe([clinic.scans])
while clinic.open:
    scans = worker.consume(24, timeout=0.5)
    worker.commit()
    for scan in scans:
        clinic.examine(scan)

# %% tags=["wrong"]
# commits a few at a time, before the work | was not examined yet
worker = clinic.ledger.consumer({**clinic.settings, "max.poll.interval.ms": 2500})
worker.subscribe([clinic.scans])
while clinic.open:
    scans = worker.consume(6, timeout=0.2)
    worker.commit()
    for scan in scans:
        clinic.examine(scan)

# %% tags=["wrong"]
# examines every second scan | less work is no cure
worker = clinic.ledger.consumer({**clinic.settings, "max.poll.interval.ms": 2500})
worker.subscribe([clinic.scans])
while clinic.open:
    for scan in worker.consume(24, timeout=0.2)[::2]:
        clinic.examine(scan)
    worker.commit()

# %% tags=["wrong"]
# notes the work without doing it, as lab 06 did | nobody had examined them
worker = clinic.ledger.consumer({**clinic.settings, "max.poll.interval.ms": 2500})
worker.subscribe([clinic.scans])
while clinic.open:
    for scan in worker.consume(24, timeout=0.2):
        clinic.ledger.processed(scan)
    worker.commit()

# %% tags=["wrong"]
# no group at all, and a loop that does not ask the clinic | the worker is in no group
worker = clinic.ledger.consumer({**clinic.settings, "max.poll.interval.ms": 2500})
worker.assign([TopicPartition(clinic.scans, 0, 0)])
done = 0
while done < 24:
    for scan in worker.consume(24, timeout=0.2):
        clinic.examine(scan)
        done += 1
    worker.commit()

# %% tags=["wrong"]
# never subscribes | no scan was delivered
worker = clinic.ledger.consumer(clinic.settings)

# %% tags=["right"]
# one scan at a time, and its commit waits for the answer
worker = clinic.ledger.consumer({**clinic.settings, "max.poll.interval.ms": 2500})
worker.subscribe([clinic.scans])
while clinic.open:
    scan = worker.poll(0.2)
    if scan is not None and not scan.error():
        clinic.examine(scan)
        worker.commit(message=scan, asynchronous=False)

# %% tags=["right"]
# a longer time between two polls
worker = clinic.ledger.consumer({**clinic.settings, "max.poll.interval.ms": 60000})
worker.subscribe([clinic.scans])
while clinic.open:
    for scan in worker.consume(24, timeout=0.2):
        clinic.examine(scan)
    worker.commit()

# %% tags=["right"]
# a thread works, and the consumer goes on polling
from concurrent.futures import ThreadPoolExecutor

worker = clinic.ledger.consumer({**clinic.settings, "max.poll.interval.ms": 2500})
worker.subscribe([clinic.scans])
with ThreadPoolExecutor(1) as pool:
    while clinic.open:
        tasks = [pool.submit(clinic.examine, scan) for scan in worker.consume(24, timeout=0.2)]
        worker.pause(worker.assignment())
        while not all(task.done() for task in tasks):
            worker.poll(0.1)
        worker.resume(worker.assignment())
        if tasks:
            worker.commit()

# %% tags=["nbval-check-output"]
lab.check.never_thrown_out(worker, clinic)

# %% [markdown] covers="D173"
# Did you notice how quiet the fault was? `worker.commit()` does not wait for the answer, so the program never heard that its commit was refused. With `asynchronous=False` it raises the error. And the error that `consume()` returns among the records (`_MAX_POLL_EXCEEDED`) says it too, if somebody looks.
#
# One record may need more time than any limit. Then let another thread work: call `pause()` for your partitions, go on with `poll()`, which returns nothing of them and starts the clock anew, and `resume()` when the work is done. The price: meanwhile a rebalance may take these partitions away, or bring others that are not paused. And commit yourself, only what the thread has done.

# %% [markdown]
# ## Here and in production
#
# | | here | default |
# |---|---|---|
# | heartbeats of a classic member (`heartbeat.interval.ms`) | 0.2 s | 3 s |
# | session of a classic member (`session.timeout.ms`) | 1 to 6 s | 45 s |
# | the shortest session that brokers allow (`group.min.session.timeout.ms`) | 1 s | 6 s |
# | longest time between two polls (`max.poll.interval.ms`) | 2.5 s, 3 s | 5 min |
# | a new group waits for more members (`group.initial.rebalance.delay.ms`) | 0 | 3 s |
# | new protocol, on the brokers: session (`group.consumer.session.timeout.ms`) | 6 s | 45 s |
# | new protocol, on the brokers: heartbeats (`group.consumer.heartbeat.interval.ms`) | 1 s | 5 s |
# | the same for one group (`consumer.heartbeat.interval.ms`), set for the groups of this lab | 0.2 s | the brokers' |

# %% [markdown]
# ## What to remember
#
# - A group gives each partition to one member at a time. Partitions limit how many members have work, and keys decide how even it is.
# - Two clocks: heartbeats tell that the process lives, `max.poll.interval.ms` that your code gets on. The second one is your promise.
# - In an eager rebalance all stop and wait for the slowest member; in a cooperative one only the newcomer waits, and the partitions that it gets; in the new protocol nobody waits for all.

# %% [markdown] covers="B045 A148"
# ## Quiz
#
# Each answer is explained when you have chosen it. The first one is kept with your progress, on this machine.

# %%
lab.quiz()

# %% [markdown]
# ## Going further
#
# What follows is not needed for the next lab. Each section stands by itself and needs only the first cell.

# %% [markdown] covers="D088 D089 E079 E080" explains="on_revoke, on_lost"
# ### Before partitions are taken away
#
# `subscribe(topics, on_assign=…, on_revoke=…, on_lost=…)` takes functions that the client calls, inside `poll()`, during a rebalance. Each gets the consumer and a list of partitions.
#
# - `on_assign`: these are yours now. Build what you keep for them. To begin at other offsets, call `consumer.assign(partitions)` in an eager group (lab 06), and `consumer.incremental_assign(partitions)` otherwise.
# - `on_revoke`: give these up. You still have them, until your function returns; only then the next owner gets them.
# - `on_lost`: they are gone already, perhaps to somebody else: the session was over, or your code worked for too long. Do not commit. If you give no `on_lost`, these go to `on_revoke`, where a commit raises `_ASSIGNMENT_LOST`. So give both.
#
# In an eager rebalance the list is always everything. Otherwise it is what changes, and `on_assign` may get an empty list.

# %% [markdown]
# ### Exercise 7.5: Hand over without doing work twice
#
# `hand_over` lets A work on 200 records; B joins after 70, and both go on. Each commits after every 50 records of its own, and once more when all is done. Then B leaves, then A. Each calls your function `on_revoke` whenever it gives partitions up; its `on_lost` does nothing. With a function that does nothing, what A had done since its last commit is done twice:

# %%
from threebrokers.lab.scenarios import hand_over

ledger_of_nothing = lab.ledger("handover-before")
hand_over(lab, ledger_of_nothing, lambda consumer, partitions: None, name="handover-before")
ledger_of_nothing.balance(lab.topic("handover-before"))

# %% [markdown]
# Write `on_revoke(consumer, partitions)`, so that no record is done twice. It must also work for a member that has committed everything already.

# %%
from confluent_kafka import KafkaError, KafkaException

handover_ledger = lab.ledger("handover")


# TODO: write on_revoke(consumer, partitions), and run hand_over(lab, handover_ledger, on_revoke)
# BEGIN SOLUTION
def on_revoke(consumer, partitions):
    try:
        consumer.commit(asynchronous=False)
    except KafkaException as fault:
        if fault.args[0].code() != KafkaError._NO_OFFSET:  # nothing new to commit is no fault
            raise


hand_over(lab, handover_ledger, on_revoke)
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# What must the brokers know before the next owner begins? For which partitions, and who must have answered before your function returns?
#
# </details>
# <details><summary>Another hint</summary>
#
# `consumer.commit()` without offsets commits what the program has been given so far. If nothing of that is new, it raises a `KafkaException`; the `code()` of its `args[0]` is `KafkaError._NO_OFFSET`. The list that your function gets has partitions, but no offsets of yours.
#
# </details>


# %% tags=["wrong"]
# does nothing | what A had done since
def on_revoke(consumer, partitions):
    print(len(partitions))


hand_over(lab, handover_ledger, on_revoke)


# %% tags=["wrong"]
# does not wait for the commit | does not wait for its commit
def on_revoke(consumer, partitions):
    consumer.commit()


hand_over(lab, handover_ledger, on_revoke)


# %% tags=["wrong", "raises-exception"]
# does not expect that nothing is new | had nothing new to commit
def on_revoke(consumer, partitions):
    consumer.commit(asynchronous=False)


hand_over(lab, handover_ledger, on_revoke)


# %% tags=["wrong", "raises-exception"]
# commits the list that it was given | No offset stored
def on_revoke(consumer, partitions):
    consumer.commit(offsets=partitions, asynchronous=False)


hand_over(lab, handover_ledger, on_revoke)


# %% tags=["wrong"]
# commits the offset that was read, not the next | a committed offset is that of the next
def on_revoke(consumer, partitions):
    places = [place for place in consumer.position(partitions) if place.offset > 0]
    for place in places:
        place.offset -= 1
    if places:
        consumer.commit(offsets=places, asynchronous=False)


hand_over(lab, handover_ledger, on_revoke)


# %% tags=["wrong"]
# commits the ends of the logs | records were left out
def on_revoke(consumer, partitions):
    for place in partitions:
        place.offset = consumer.get_watermark_offsets(place)[1]
    consumer.commit(offsets=partitions, asynchronous=False)


hand_over(lab, handover_ledger, on_revoke)


# %% tags=["wrong", "raises-exception"]
# a function with one argument | takes 1 positional argument
def on_revoke(partitions):
    pass


hand_over(lab, handover_ledger, on_revoke)


# %% tags=["right"]
# expects that nothing is new
from confluent_kafka import KafkaError, KafkaException


def on_revoke(consumer, partitions):
    try:
        consumer.commit(asynchronous=False)
    except KafkaException as fault:
        if fault.args[0].code() != KafkaError._NO_OFFSET:
            raise


hand_over(lab, handover_ledger, on_revoke)


# %% tags=["right"]
# the positions of what is taken
def on_revoke(consumer, partitions):
    places = [place for place in consumer.position(partitions) if place.offset >= 0]
    if places:
        consumer.commit(offsets=places, asynchronous=False)


hand_over(lab, handover_ledger, on_revoke)

# %% tags=["nbval-check-output"]
lab.check.nothing_twice(on_revoke)

# %% [markdown]
# `commit()` without offsets counts every record that was *given*, done or not. Here each was done before the next poll. With `consume(100)`, or with threads that work, it would lose records: note yourself what is done, and commit these offsets.

# %% [markdown] covers="E057 E058" explains="static"
# ### A restart without a rebalance
#
# A member that closes leaves, and a member that comes back is a new one: two rebalances for one restart. With `group.instance.id` a member is **static**: it has a name. When it closes, the group keeps its place for the length of a session. Whoever comes back with the same name gets the same partitions.

# %% [markdown]
# ### Exercise 7.6: A restart that nobody notices
#
# `deploy` restarts B of a group of A and B: it is away for 1.4 s, while a new version is installed. `settings_of(name)` returns a member's settings. Here is what A feels without them:

# %%
from threebrokers.lab.scenarios import deploy

deploy(lab, lambda name: {}).members()

# %% [markdown]
# Write `settings_of(name)`, so that A keeps what it has, and B works again afterwards. `restarted` is the recording that `deploy(lab, settings_of)` returns.


# %%
# TODO: write settings_of(name), and set `restarted` to what deploy(lab, settings_of) returns
# BEGIN SOLUTION
def settings_of(name):
    return {"group.instance.id": f"packer-{name}", "session.timeout.ms": 30000}


restarted = deploy(lab, settings_of)
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# How does the coordinator know that the B which comes is the B which went? How long must it wait for it?
#
# </details>
# <details><summary>Another hint</summary>
#
# `group.instance.id` must be another one for each member, and the same each time that this member starts. The session must last longer than the restart.
#
# </details>


# %% tags=["wrong"]
# a member without a name | a member without a name leaves
def settings_of(name):
    return {"session.timeout.ms": 30000}


restarted = deploy(lab, settings_of)


# %% tags=["wrong"]
# a session that is shorter than the restart | for a session, which is 1000 ms
def settings_of(name):
    return {"group.instance.id": f"packer-{name}", "session.timeout.ms": 1000}


restarted = deploy(lab, settings_of)


# %% tags=["wrong", "raises-exception"]
# the same name for all | was ended by an error
def settings_of(name):
    return {"group.instance.id": "packer"}


restarted = deploy(lab, settings_of)

# %% tags=["wrong"]
# another name at each start | B came back under another name
from itertools import count

starts = count()


def settings_of(name):
    return {"group.instance.id": f"packer-{name}-{next(starts)}"}


restarted = deploy(lab, settings_of)


# %% tags=["right"]
# a name and the lab's session
def settings_of(name):
    return {"group.instance.id": name}


restarted = deploy(lab, settings_of)

# %% tags=["nbval-check-output"]
lab.check.restart_unnoticed(restarted)

# %% [markdown]
# And if two run with the same name, by mistake? In the classic protocol the coordinator believes the second one, and the first is **fenced**: it gets a fatal error. In the new protocol the second one is refused.

# %% [markdown] covers="B095 B060 A152 A146 A098"
# ### Two teams, one topic
#
# Inside a group: a queue. Between groups: **publish/subscribe**, everybody gets everything. Most systems make you choose when you make a topic. Here each reader chooses, by the name of its group:
#
# - a new name begins where `auto.offset.reset` says, with no place of its own;
# - an existing name shares the work, or goes on where the group stopped;
# - one name for two programs that read *different* topics works, and is a bad idea: each rebalance of the one stops the other.
#
# Each group is one more copy of the traffic out of the leaders. That is cheap while it reads near the end, from the page cache (lab 02); far behind, the leaders must read from the disk.

# %% [markdown]
# ### Exercise 7.7: Who is in which group?
#
# Four programs read the hires of a company. Set `teams`: for each program the name of its group. `staff` runs them, and `got` is how many of 60 records each has got.
#
# | program | what it does |
# |---|---|
# | `state 1`, `state 2` | two copies of a program that counts hires by state |
# | `budget` | plans the travel budget: needs every hire |
# | `audit` | keeps every hire for seven years |

# %%
from threebrokers.lab.scenarios import staff

# TODO: set `teams`, {"state 1": …, …}, and `got` to what staff(lab, teams) returns
# BEGIN SOLUTION
teams = {"state 1": "by-state", "state 2": "by-state", "budget": "budget", "audit": "audit"}
got = staff(lab, teams)
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Which of the four should get each record, and which two together?
#
# </details>
# <details><summary>Another hint</summary>
#
# One application, one group. Copies of a program are one application.
#
# </details>

# %% tags=["wrong"]
# one group for all | shares the group 'all' with
teams = dict.fromkeys(["state 1", "state 2", "budget", "audit"], "all")
got = staff(lab, teams)

# %% tags=["wrong"]
# a group for each program | each of them counts every hire
teams = {name: name.replace(" ", "-") for name in ["state 1", "state 2", "budget", "audit"]}
got = staff(lab, teams)

# %% tags=["wrong"]
# forgets one | says nothing of 'audit'
teams = {"state 1": "by-state", "state 2": "by-state", "budget": "budget"}
got = staff(lab, teams)

# %% tags=["wrong"]
# the readers of everything together | shares the group 'everything' with
teams = {"state 1": "by-state", "state 2": "by-state", "budget": "everything", "audit": "everything"}
got = staff(lab, teams)

# %% tags=["right"]
# other names
teams = {"state 1": "s", "state 2": "s", "budget": "money", "audit": "keepers"}
got = staff(lab, teams)

# %% tags=["nbval-check-output"]
lab.check.everybody_sees(teams)

# %% [markdown] covers="D020"
# A group that is stopped for an hour loses nothing: the log goes on without it, and the producers never notice. It finds its committed offsets for seven days after its last member has left (`offsets.retention.minutes`).

# %% [markdown] covers="B059 B061"
# ### Thirteen partitions, three readers
#
# Seven letters, m1 to m7, are in 13 partitions. A, B and C read them: first each in a group of its own, then all in one group. The table shows what each got, in the order in which it came:

# %%
import pandas as pd

from threebrokers.lab.scenarios import mail, reading

seven, ways = mail(lab, 7), {}
with reading(lab, seven, {"A": "a", "B": "b", "C": "c"}) as apart:
    ways["each in a group of its own"] = {who: " ".join(got) for who, got in apart.got.items()}
with reading(lab, seven, {"A": "all", "B": "all", "C": "all"}) as together:
    ways["all in one group"] = {who: " ".join(got) for who, got in together.got.items()}
pd.DataFrame(ways)

# %%
lab.observed("Apart, each got all seven", all(len(got) == 7 for got in apart.got.values()))
shared = sorted(letter for got in together.got.values() for letter in got)
lab.observed("Together, each letter came to one of them", shared == [f"m{n}" for n in range(1, 8)])

# %% [markdown]
# An order is kept inside a partition only. So who reads them all need not get m1 first, and A may see another order than B.

# %% [markdown] covers="B070 B091 B092 B094 B096"
# Now 25 letters, and one group. `kafka-consumer-groups --describe` has a line for each partition: what is committed, where the log ends, who has it. Answer from it before you open the answers: Who has partition 10? How many letters did A get? Which offset of partition 5 comes next, and for whom? Why does nobody else get these letters?

# %%
from io import StringIO

letters = mail(lab, 25)
with reading(lab, letters, {"A": "all", "B": "all", "C": "all"}) as together:
    told = lab.cluster.tool("kafka-consumer-groups", "--describe", "--group", together.groups["A"])
columns = ["CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CLIENT-ID"]
pd.read_csv(StringIO(told), sep=r"\s+").set_index("PARTITION")[columns].sort_index()

# %% [markdown]
# <details><summary>Answers</summary>
#
# C: *range* gave it 9 to 12, side by side. A got 8, in its partitions 0 to 4. Offset 3, for B: it has read 0 to 2. And in a group a partition has one member.
#
# If each had a group of its own, all three would have partition 10, and each group an offset of its own there. All would get the same letters, because groups know nothing of each other.
#
# </details>

# %% [markdown] covers="D179"
# ### A burst
#
# A shop has 40 sales a second, and for one second ten times as many. Two groups read them, each with one member, which can do 100 a second at most. When the burst is over, two members join one of the groups.

# %%
from threebrokers.lab.scenarios import burst, line_chart

lags = burst(lab)
line_chart(lags, "Lag of two groups", "records", to_scale=True)

# %%
one_member, three_members = lags.iloc[-1]
lab.observed("With three members the lag was gone first", three_members < one_member / 2)

# %% [markdown]
# Each mark is a measurement, half a second after the one before, or later on a busy machine. The second group, too, has one member until the new ones have got their partitions. So its lag grows in the burst as well. After the burst it shrinks slowly, and may even grow for a moment while partitions change hands, for nobody reads those meanwhile. It shrinks fast when the new members have their partitions.
#
# The producers never waited: the log took the burst, and nothing is lost. A member does no more in a second than before. So one gains little on the 40 new sales of each second; three gain much more, and two of them may leave when the lag is gone. More producers or more consumers: neither side asks the other, as long as there is a partition for each member.

# %% [markdown]
# ### More partitions
#
# The group has as many members as partitions, and is too slow. So you add partitions, from six to eight. 100 customers have a record each already, with the customer as key. Now each gets another record.

# %%
guess_7d = lab.predict("7.d")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_7d.choose("75")
# END SOLUTION

# %% [markdown]
# ### Exercise 7.8: Which keys move?
#
# Set `moved`: the names (of `CUSTOMER_NAMES`) whose second record will be in another partition than the first. The last line of the cell adds the partitions and sends the second records.

# %%
from confluent_kafka import consistent

from threebrokers.lab.scenarios import CUSTOMER_NAMES, first_round, second_round

customers = first_round(lab)
# TODO: set `moved`
# BEGIN SOLUTION
moved = {name for name in CUSTOMER_NAMES if consistent(name.encode(), 6) != consistent(name.encode(), 8)}
# END SOLUTION
second_round(lab, customers)

# %% [markdown]
# <details><summary>Hint</summary>
#
# How does the client choose a partition for a key (lab 02), and what changes when there are eight?
#
# </details>
# <details><summary>Another hint</summary>
#
# `consistent(key, partitions)` computes what this client's partitioner does; the key is bytes. Compare its results for both numbers of partitions.
#
# </details>

# %% tags=["wrong"]
# none | `moved` is empty
moved = []

# %% tags=["wrong"]
# all | `moved` has all customers
moved = set(CUSTOMER_NAMES)

# %% tags=["wrong"]
# those of the new partitions | those that go to the two new partitions
moved = {name for name in CUSTOMER_NAMES if consistent(name.encode(), 8) >= 6}

# %% tags=["wrong"]
# Java's function | with Java's function
from confluent_kafka import murmur2

moved = {name for name in CUSTOMER_NAMES if murmur2(name.encode(), 6) != murmur2(name.encode(), 8)}

# %% tags=["wrong"]
# those that stay | `moved` has those that stay
moved = {name for name in CUSTOMER_NAMES if consistent(name.encode(), 6) == consistent(name.encode(), 8)}

# %% tags=["right"]
# a list
from zlib import crc32

moved = [name for name in CUSTOMER_NAMES if crc32(name.encode()) % 6 != crc32(name.encode()) % 8]

# %% tags=["nbval-check-output"]
lab.check.moved_known(moved)

# %%
import pandas as pd

from threebrokers.kafka.log_reader import read_log

places = pd.DataFrame(
    [(r.key.decode(), r.partition, r.timestamp) for r in read_log(lab.bootstrap, customers)]
)
second = places.sort_values(2).groupby(0)[1].agg(["first", "last"])
changed = int((second["first"] != second["last"]).sum())
guess_7d.compare(min(("0", "25", "50", "75", "100"), key=lambda answer: abs(int(answer) - changed)))
pd.crosstab(second["first"], second["last"], rownames=["first in partition"], colnames=["then in partition"])

# %% [markdown]
# Only keys whose rest is the same for 6 and for 8 stay. From 6 to 12 half of them would move. (Each partition costs files, and an election when its leader dies: many more than you need are no help.)
#
# Who reads and writes learns of new partitions only with new metadata: up to 5 minutes later in this client (`topic.metadata.refresh.interval.ms`) and in Java's. Meanwhile some producers use six partitions and others eight. Then a classic group rebalances (in the new protocol the coordinator sees the partitions itself, and waits for no client), and a new partition is read from where `auto.offset.reset` says: with `latest` its first records are never read.

# %% [markdown]
# ### How the classic assignors divide
#
# Three members read two topics of eight partitions each:

# %%
import pandas as pd

from threebrokers.lab.scenarios import shares

pd.DataFrame({how: shares(lab, how) for how in ("range", "roundrobin", "cooperative-sticky", "consumer")})

# %% [markdown] covers="E070 A157" explains="group.remote.assignor"
# *Range* divides each topic by itself, so the same members get the rest each time. That has a use: partitions of the same number come to the same member, if two topics are to be joined. *Roundrobin* deals all partitions in turn. *Sticky* is even too, and moves as little as it can. Java has one more, an eager `sticky`, and takes `range` with `cooperative-sticky` as default.
#
# In the new protocol the coordinator computes (`group.remote.assignor`: `uniform` or `range`). An assignor of your own is a Java class: in the client for the classic protocol, on the brokers for the new one. From Python you cannot write one.

# %% [markdown] covers="A140 D066 A150 B039 D218 D074" explains="JoinGroup, group leader, ConsumerGroupHeartbeat"
# ### What they say to each other
#
# In the classic protocol each member sends **JoinGroup** to the coordinator. The first one becomes the **group leader**: it alone learns all members, computes the assignment, and sends it back (SyncGroup). So clients without a common strategy cannot be in one group. In the new protocol there is one request, **ConsumerGroupHeartbeat**: "this is what I have"; the answer is "this is what you shall have".
#
# - A committed offset belongs to a group, a topic and a partition, never to a member.
# - Different groups may have different coordinators. In very old versions ZooKeeper did this work.
# - When a partition's *leader* dies, no rebalance follows: members stay, and fetch from the next leader (lab 04). A rebalance is about members, subscribed topics and numbers of partitions.
# - One consumer for each thread. Java's consumer raises an error if two threads use it. This client lets the second thread wait, and while the first polls in a loop, that may be for ever.
#
# You can watch all this. With `"debug": "cgrp"` among its settings a client says what it does in its group (also `broker`, `fetch`, `protocol`); with `"logger": logging.getLogger()` it says so in Python's `logging`, at the level DEBUG. One of its lines:
#
# ```
# JoinGroup response: GenerationId 1, Protocol range, LeaderId rdkafka-64b76aac… (me), my MemberId rdkafka-64b76aac…
# ```

# %% [markdown]
# ### The same in Java
#
# | | this client | Java |
# |---|---|---|
# | default strategy | `range,roundrobin` | `range,cooperative-sticky` (begins eager) |
# | eager and cooperative in one list | refused | allowed, to change over by restarting one member after the other |
# | records at one poll | what you ask for in `consume(n)` | `max.poll.records` 500 |
# | work for too long | `_MAX_POLL_EXCEEDED` among the records; a commit that waits raises `_ASSIGNMENT_LOST` | a log line; the next commit raises `CommitFailedException` |
# | `session.timeout.ms`, `heartbeat.interval.ms` | 45 s, 3 s | the same |
# | these two, or a strategy, beside `group.protocol=consumer` | refused | refused, too |
# | a member's listeners | `on_assign`, `on_revoke`, `on_lost` | `ConsumerRebalanceListener` |

# %% [markdown]
# Compare with the [solution](../solutions/07_consumer_groups.ipynb). Next lab: [When is data deleted?](08_retention.ipynb)
