# %% [markdown]
# # What is a topic made of?
#
# **You will** send all the flights that left New York in 2013 through Kafka, choose the key that keeps each aircraft's flights in order, and open the files in which a topic lives.
#
# *40 minutes. You need nothing but this page.*

# %%
from threebrokers import open_lab

lab = open_lab("02")

# %% [markdown] covers="A025 C002 D004 C007 C021 E051 E099"
# ## One record
#
# What Kafka stores is a **record**; many people say *message*. A record has a **value**, it may have a **key** and **headers**, and it always has a **timestamp**. Value and key are bytes, and Kafka never looks inside them: the programs that write and the programs that read must agree on what the bytes mean.
#
# Here are three records with the same key. The values are a text, a JSON object, and the first bytes of an image.

# %%
import json
import time

alerts = lab.fresh_topic("alerts", replication_factor=3)
report = {"on_delivery": lambda error, message: print("acknowledged at offset", message.offset())}
producer = lab.producer({"linger.ms": 100, **report})
headers = [("machine", b"17"), ("trace", b"a1b2c3")]
producer.produce(alerts, "Alert: machine failed", key="1234567", headers=headers)
producer.produce(alerts, json.dumps({"alert": "machine failed"}), key="1234567", headers=headers)
producer.produce(alerts, b"\x89PNG", key="1234567", headers=headers)
left = producer.flush()

# %% [markdown]
# Each delivery report carries an **offset**: the record's number in the log. The producer did not choose it. It sends records in **batches**, and counts the records of a batch from 0. The leader writes its own next number into the batch when it stores it. So the offset is known only when the report comes back.
#
# Now read the records. `read_log` is a small helper of this course: it returns all that a topic holds now.

# %%
from threebrokers.kafka.log_reader import read_log

for record in read_log(lab.bootstrap, alerts):
    print(record.offset, record.key, record.value, dict(record.headers))

# %% [markdown]
# - The **key** has two jobs: it is stored with the record, and it chooses the partition, as you will see. It may be missing.
# - **Headers** are notes on the outside: where a record comes from, where it should go. A program can pass a record on by its headers alone and never open the value, which may even be encrypted.

# %% [markdown]
# ## Three hundred thousand records
#
# Now real data: every flight from New York in 2013. The key is the tail number, which is the name of the aircraft (2,512 flights have none). The value is a JSON object. One Python producer sends them all, once for the whole course.

# %%
from threebrokers.data import flight_messages, has_all_flights

name = "flights"
flights = lab.topic(name)
if has_all_flights(lab):
    print("All flights are here already.")
else:
    lab.fresh_topic(name, partitions=6, replication_factor=3, config={"retention.ms": "-1"})
    messages = flight_messages()
    many = {"queue.buffering.max.messages": 400_000}  # the producer may hold all of them at once
    producer = lab.producer({"enable.idempotence": True, "linger.ms": 50, **many})
    start = time.perf_counter()
    for tail_number, flight in messages:
        producer.produce(flights, flight, key=tail_number)
    left = producer.flush()
    print(f"{len(messages):,} flights stored in {time.perf_counter() - start:.1f} seconds; {left} left.")

# %% [markdown]
# `linger.ms` lets records gather in batches, and `enable.idempotence` keeps their order when one must be sent again (labs 05 and 10). `retention.ms=-1` keeps the records until somebody deletes the topic.

# %% [markdown] covers="A039 D008 D009 B016"
# ## A topic is a name, a partition is a directory
#
# A **topic** is a name for records of one kind, as a table is in a database. It is made of **partitions**. Each partition is a **log**: new records are added at its end and nowhere else, and no record is ever changed. A partition has **replicas** on several brokers. One replica is the **leader**; the **followers** take every record from it.

# %%
from threebrokers.diagrams import topic_picture

topic_picture(lab.cluster.state([flights]).topic(flights))

# %% [markdown]
# You can find each replica on the disk: it is one directory on one broker. How many megabytes does each one have?

# %%
import pandas as pd


def megabytes(partition, broker):
    return sum(file.stat().st_size for file in lab.cluster.segments(flights, partition, broker)) / 1e6


sizes = {f"broker {b}": [megabytes(p, b) for p in range(6)] for b in lab.cluster.brokers}
sizes = pd.DataFrame(sizes, index=[f"partition {p}" for p in range(6)])
sizes.loc["all"] = sizes.sum()
sizes.round(1)

# %% [markdown] covers="A127 B031"
# A replica is never split between brokers, so a partition must fit on one disk. A topic need not: with more brokers, each would hold only some of the partitions. Here three brokers hold three replicas, so each holds everything.
#
# Also look whether the sizes are even. A key that is much more frequent than all others would make its partition much larger.
#
# What is in such a directory?

# %%
folder = lab.cluster.segments(flights, 0)[0].parent
for file in sorted(folder.iterdir()):
    print(f"{file.name:32}{file.stat().st_size:>12,} bytes")

# %% [markdown] covers="D132 E240"
# - `.log` holds the records. It is a **segment**: when it is full (1 GB), the log goes on in the next one. A segment is named after its first offset.
# - `.index` says at which byte of the segment an offset is, `.timeindex` says which offset belongs to a time. They have an entry for every 4 KB or more, not one for each record. Space for 10 MB is reserved for each and hardly used.
# - The other files are small notes of the broker.
#
# The three replicas of a partition are equal, byte for byte. (Kafka's tool `kafka-replica-verification` compares them too.) What the producer sends is what lies on every disk, and what every reader gets. The cell makes a short fingerprint of the bytes of each replica.

# %%
import hashlib


def fingerprint(parts):
    return hashlib.sha256(b"".join(parts)).hexdigest()[:24]


def replicas():
    files = [lab.cluster.segments(flights, 0, broker)[0] for broker in lab.cluster.brokers]
    return [fingerprint([file.read_bytes()]) for file in files]


lab.wait_until(lambda: len(set(replicas())) == 1, what="the last replica to be complete", within=30)
replicas()

# %% [markdown] covers="B030 B036 B051 A022"
# ## Order ends where the partition ends
#
# Seven records are sent one after the other, without a key. First to a topic with one partition, then to a topic with 13. Press the button of your answer before you run on.

# %%
guess = lab.predict(
    "In which of the two topics does a reader find them in the order in which they were sent?",
    {
        "in both": "A topic has no order of its own: it is its partitions, and each of them has one.",
        "with 1 partition only": "Order holds inside a partition, and nowhere else.",
        "in neither": "The leader of a partition stores what one producer sends in the order in which it comes.",
    },
    id="2.a",
)
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess.choose("with 1 partition only")
# END SOLUTION

# %%
from threebrokers.diagrams import log_picture


def send_seven(topic):
    producer = lab.producer({"sticky.partitioning.linger.ms": 0})
    for number in range(1, 8):
        producer.produce(topic, f"record {number}")
        producer.flush()
    found = [record.value.decode() for record in read_log(lab.bootstrap, topic)]
    print(found)
    return found == sorted(found)


one_partition = send_seven(lab.fresh_topic("seven-1"))
seven = lab.fresh_topic("seven-13", partitions=13)
thirteen = send_seven(seven)
guess.compare("in both" if thirteen else "with 1 partition only" if one_partition else "in neither")
log_picture(read_log(lab.bootstrap, seven), text=lambda record: record.value.decode())

# %% [markdown]
# Inside a partition, every reader finds the order in which the leader stored the records. Between partitions there is no order. `read_log` goes through the partitions one by one; another reader takes the records as they come, and gets another order again.
#
# Order for *all* records has a price: one partition, so only one consumer of a group can read. Also, the producer must not overtake itself when it sends a record again. `enable.idempotence` prevents that, with up to five requests under way (lab 10). And two producers? Their records have the order in which they reach the leader.

# %% [markdown]
# ## A key keeps together what belongs together
#
# You seldom need order for all records. You need it for those of one customer, one machine, one aircraft. Give these the same key.
#
# Four records go to a topic with 13 partitions: two with the same key, two without a key. The cell does this 20 times.

# %%
guess = lab.predict(
    "Which two of the four are in the same partition, all 20 times?",
    {
        "those with the key": "The client computes the partition from the key, so the same key gives the same one.",
        "those without a key": "No key is not a key: nothing says that these two belong together.",
        "both pairs": "No key is not a key: nothing says that the two without one belong together.",
        "neither": "The partition is not chosen by turns: a key decides it, each time in the same way.",
    },
    id="2.b",
)
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess.choose("those with the key")
# END SOLUTION

# %%
from collections import Counter

keys = lab.fresh_topic("keys", partitions=13)
producer = lab.producer({"sticky.partitioning.linger.ms": 0})
for turn in range(20):
    for key in ["N14228", "N14228", None, None]:
        producer.produce(keys, f"turn {turn}", key=key)
left = producer.flush()

places = {}
for record in read_log(lab.bootstrap, keys):
    places.setdefault((record.value, record.key), set()).add(record.partition)
together = Counter(key for (_, key), found in places.items() if len(found) == 1)
for key in [b"N14228", None]:
    print(f"key {key}: both in the same partition {together[key]} times of 20")
with_key, without = together[b"N14228"] == 20, together[None] == 20
guess.compare(
    ("both pairs" if without else "those with the key")
    if with_key
    else ("those without a key" if without else "neither")
)

# %% [markdown] covers="C003 D011"
# The two with the key are always in the same partition, because the client computes the partition from the key. For the two without a key nothing is promised: this client chooses at random. (Usually it stays with one partition for 10 ms, so that batches fill. The setting in the cell switches that off.)

# %% [markdown]
# ### Exercise 2.1: Keep each aircraft's flights in order
#
# Send the 27,004 flights of January to a new topic `by-aircraft` with 6 partitions. All flights of an aircraft must be in one partition, in the order of the timetable, and no partition may have much more than the others. `timetable` is the list of flights in that order; the value of each record is `json.dumps(flight)`. The `producer` is given: `enable.idempotence` keeps the order even when a batch must be sent again.

# %%
timetable = [json.loads(value) for _, value in flight_messages(1)]
timetable[0]

# %%
producer = lab.producer({"enable.idempotence": True, "linger.ms": 20})
# TODO: make the topic `by_aircraft` and send every flight of the timetable: with which key?
# BEGIN SOLUTION
by_aircraft = lab.fresh_topic("by-aircraft", partitions=6)
for flight in timetable:
    producer.produce(by_aircraft, json.dumps(flight), key=flight["tailnum"])
producer.flush()
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# What do all flights of one aircraft have in common, and no flight of another aircraft?
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

# %% tags=["nbval-check-output"]
lab.check.aircraft_in_order(by_aircraft)

# %% [markdown] covers="A011 A043 C001 D003 E002"
# ## Reading removes nothing
#
# Kafka is often called a *distributed commit log*. A database keeps such a log too, and hides it. Kafka shows it: readers name an offset and read from there. (A file in which a program notes its errors is called a log too. That is not meant here.)
#
# A reader takes nothing away. Two groups, `audit` and `board`, read January one after the other. The cell compares what they got, and the files before and after.

# %%
from threebrokers.data import send


def read_as(group):
    start = {"auto.offset.reset": "earliest", "enable.auto.commit": False}
    reader = lab.consumer({"group.id": lab.group(group), **start})
    reader.subscribe([january])
    messages = []
    while len(messages) < 27_004:
        messages += reader.consume(5_000, timeout=0.2)
    reader.close()
    messages.sort(key=lambda message: (message.partition(), message.offset()))
    return fingerprint(message.value() for message in messages)


january = lab.fresh_topic("january", partitions=6)
send(lab, january, flight_messages(1))


def files_now():
    return fingerprint(lab.cluster.segments(january, p)[0].read_bytes() for p in range(6))


print("the files before:", files_now())
print("read by audit:   ", read_as("audit"))
print("read by board:   ", read_as("board"))
print("the files after: ", files_now())

# %% [markdown] covers="C006 E003"
# The same partition gives the same records in the same order, to everybody, as often as you like. In many other message systems a message is gone once it has been read.
#
# Offsets in a partition only grow, and none is used twice. But some may be missing. Here two transactions write three records each.

# %%
gaps = lab.fresh_topic("gaps", replication_factor=3)
producer = lab.producer({"transactional.id": lab.topic("gaps")})
producer.init_transactions()
for letters in ["abc", "def"]:
    producer.begin_transaction()
    for letter in letters:
        producer.produce(gaps, letter)
    producer.commit_transaction()
log_picture(read_log(lab.bootstrap, gaps), text=lambda record: record.value.decode())

# %% [markdown]
# Offset 3 is a mark that ends the first transaction. Readers never see it (lab 11). Compaction, which removes old values of a key, makes gaps too (lab 09). So never compute a number of records from two offsets.

# %% [markdown]
# ### Exercise 2.2: Read one page and leave no trace
#
# Read offsets 100 to 119 of partition 1 of the topic `january`, and nothing else. Keep the consumer as `reader` and the 20 records as the list `page`. Leave no trace: the group must never have a member, and must have no committed offset.

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
# commits by itself | commits by itself every five seconds
reader = lab.consumer({"group.id": group})
reader.assign([TopicPartition(january, 1, 100)])
page = [reader.poll(5) for _ in range(20)]
reader.close()

# %% tags=["wrong"]
# commits by hand | the group has committed offset 120
reader = lab.consumer({"group.id": group, "enable.auto.commit": False})
reader.assign([TopicPartition(january, 1, 100)])
page = [reader.poll(5) for _ in range(20)]
reader.commit(asynchronous=False)

# %% tags=["nbval-check-output"]
lab.check.one_page(reader, page)

# %% [markdown] covers="A111 A112 D134"
# ## Two clocks, and a third one
#
# By default, a record's timestamp is the one that the producer gave it: the *create time*. A topic can ask the leader to write its own time instead: the *append time*. Here a producer sends three records to each kind of topic, and says: now, an hour ago, in two hours.

# %%
HOUR = 3_600_000  # in milliseconds: Kafka counts them from the start of 1970
now = int(time.time() * 1000)


def report(error, message):
    said = f"  said {message.value().decode()}:"
    if error is None:
        stored = (message.timestamp()[1] - now) / HOUR
        print(said, f"offset {message.offset()}, timestamp {stored:+.0f} hours")
    else:
        print(said, "refused,", error.str())


for name, kind in [("clock-create", "CreateTime"), ("clock-append", "LogAppendTime")]:
    topic = lab.fresh_topic(name, config={"message.timestamp.type": kind})
    producer = lab.producer({"on_delivery": report})
    print(kind)
    for hours in [0, -1, 2]:
        producer.produce(topic, f"{hours:+} hours", timestamp=now + hours * HOUR)
        producer.flush()

# %% [markdown]
# In the first topic the later offset has the earlier time: offsets put a log in order, times do not. This also happens without any trick, when a record must be sent again and arrives after younger ones. A time more than one hour ahead is refused (`message.timestamp.after.max.ms`). In the second topic it does not matter what the producer says.
#
# The third clock is the *event time*: when the thing itself happened. Here it is in the value, as `scheduled`. Why not in the timestamp? Kafka deletes records with old timestamps, and would delete all flights of 2013 within seconds (lab 08).
#
# Now ten days of January come in, but not in the order of the calendar. After four of them somebody looks at the clock; that is `moment`. Then the other six come in.

# %%
days = lab.fresh_topic("days", replication_factor=3, config={"message.timestamp.type": "LogAppendTime"})
producer = lab.producer({"enable.idempotence": True, "linger.ms": 60_000})


def send_days(*numbers):
    for number in numbers:
        for flight in timetable:
            if flight["scheduled"].startswith(f"2013-01-{number:02}"):
                producer.produce(days, json.dumps(flight), key=flight["tailnum"])
        producer.flush()


send_days(3, 1, 2, 5)
print(f"{lab.cluster.segments(days, 0)[0].stat().st_size:,} bytes are stored.")
moment = int(time.time() * 1000)
send_days(4, 7, 6, 9, 8, 10)
print(f"{lab.cluster.segments(days, 0)[0].stat().st_size:,} bytes are stored.")

# %% [markdown]
# ### Exercise 2.3: Find the first flight stored after a given time
#
# Find the `offset` of the first flight that was stored at `moment` or later. The topic `days` has one partition, number 0. Use the consumer `reader` to ask the brokers, and do not read the records that came before.

# %%
reader = lab.consumer({"group.id": lab.group("first"), "enable.auto.commit": False})
# TODO: find `offset`
# BEGIN SOLUTION
offset = reader.offsets_for_times([TopicPartition(days, 0, moment)], timeout=10)[0].offset
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Remember the files in the directory of a partition: which one knows about times? Who can look into it for you?
#
# </details>
# <details><summary>Another hint</summary>
#
# `Consumer.offsets_for_times(…, timeout=10)` takes and returns a list of `TopicPartition`. In the question, the time in milliseconds stands where the offset would be.
#
# </details>

# %% tags=["wrong"]
# scans from 0 | went through all records before it
reader.assign([TopicPartition(days, 0, 0)])
message = reader.poll(10)
while message.timestamp()[1] < moment:
    message = reader.poll(10)
offset = message.offset()

# %% tags=["wrong"]
# takes event time for the timestamp | no record is late enough
from datetime import datetime

clock = datetime.fromtimestamp(moment / 1000).astimezone()
stored = [(record.offset, json.loads(record.value)) for record in read_log(lab.bootstrap, days)]
later = [place for place, flight in stored if datetime.fromisoformat(flight["scheduled"]) >= clock]
offset = later[0] if later else len(stored)

# %% tags=["wrong"]
# asks for a time of 2013 | a time before anything was stored
from datetime import datetime

scheduled = datetime(2013, 1, 6).timestamp() * 1000
offset = reader.offsets_for_times([TopicPartition(days, 0, int(scheduled))], timeout=10)[0].offset

# %% tags=["wrong"]
# the last one before | is the last record stored before
offset = reader.offsets_for_times([TopicPartition(days, 0, moment)], timeout=10)[0].offset - 1

# %% tags=["nbval-check-output"]
lab.check.first_stored_after(moment, reader, offset)

# %% [markdown]
# ## Which partition, exactly?
#
# The **client** chooses the partition, not the broker. It computes a number from the bytes of the key, a *hash*. It divides that by the number of partitions, and the remainder is the partition. But clients differ in their hash function: this Python client uses CRC32, the Java client uses one called murmur2.
#
# Below, both send the same ten keys to a topic of six partitions. For Java it is Kafka's own console producer that sends. Do not look where the records went. You are going to say it.

# %%
tails = ["N14228", "N24211", "N619AA", "N804JB", "N668DN", "N39463", "N516JB", "N829AS", "N593JB", "N10156"]

by_python = lab.fresh_topic("tails-python", partitions=6)
producer = lab.producer()
for tail in tails:
    producer.produce(by_python, "departed", key=tail)
left = producer.flush()

by_java = lab.fresh_topic("tails-java", partitions=6)
typed = "".join(f"{tail}\tdeparted\n" for tail in tails)  # key, tabulator, value
options = ["--topic", by_java, "--reader-property", "parse.key=true"]
printed = lab.cluster.tool("kafka-console-producer", *options, typed=typed)

# %% [markdown]
# ### Exercise 2.4: Say which partition a key goes to
#
# Make two dictionaries that give for each tail number in `tails` its partition (0 to 5): `here` for this Python client, `java` for the Java client. Do not read the topics. Compute it.

# %%
# TODO: compute `here` and `java`
# BEGIN SOLUTION
from confluent_kafka import consistent, murmur2

here = {tail: consistent(tail.encode(), 6) for tail in tails}
java = {tail: murmur2(tail.encode(), 6) for tail in tails}
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# A client must find the same partition in every program and on every day. Does Python's `hash()` give the same number after a restart? And what is hashed: the text or its bytes?
#
# </details>
# <details><summary>Another hint</summary>
#
# The package `confluent_kafka` has both: `consistent` is CRC32 as this client uses it, `murmur2` is Java's. Each takes the key as bytes and the number of partitions.
#
# </details>

# %% tags=["wrong"]
# Python's hash() | numbers of Python's hash()
from confluent_kafka import murmur2

here = {tail: hash(tail) % 6 for tail in tails}
java = {tail: murmur2(tail.encode(), 6) for tail in tails}

# %% tags=["wrong"]
# the two functions exchanged | the places of the Java client's records
from confluent_kafka import consistent, murmur2

here = {tail: murmur2(tail.encode(), 6) for tail in tails}
java = {tail: consistent(tail.encode(), 6) for tail in tails}

# %% tags=["wrong"]
# one function for both clients | the places of the Python client's records
from confluent_kafka import consistent

here = {tail: consistent(tail.encode(), 6) for tail in tails}
java = here

# %% tags=["wrong"]
# forgets the remainder | there is no such partition
import zlib

from confluent_kafka import murmur2

here = {tail: zlib.crc32(tail.encode()) for tail in tails}
java = {tail: murmur2(tail.encode(), 6) for tail in tails}

# %% tags=["wrong"]
# the remainder by 5 | they do not follow from this client's function
from confluent_kafka import consistent, murmur2

here = {tail: consistent(tail.encode(), 5) for tail in tails}
java = {tail: murmur2(tail.encode(), 5) for tail in tails}

# %% tags=["nbval-check-output"]
lab.check.partitions_foretold(here, java)

# %% [markdown] covers="B081 B093"
# If programs in two languages write to one topic, a key can end in two partitions, and its order is lost. With the setting `"partitioner": "murmur2_random"` this client chooses as Java does.

# %% [markdown]
# ### An old transcript, checked
#
# A Kafka course of 2017 printed what its Java programs did: 123 lines, each with a key, a partition and an offset. The topic is said to have 13 partitions. The keys are whole numbers, which Java sends as eight bytes. Now compute the partitions with the formula of exercise 2.4.

# %%
guess = lab.predict(
    "For how many of the 123 lines does today's formula give the partition that was printed in 2017?",
    {
        "all": "The formula is the same; but look whether every line can come from a topic with 13 partitions.",
        "most, not all": "The formula never changed, and a few lines come from a topic with another number of partitions.",
        "about one in 13": "That would be chance: but a client cannot change its formula, or keys would change places.",
    },
    id="2.c",
)
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess.choose("all")
# END SOLUTION

# %%
import struct
from importlib.resources import files as files_of

from confluent_kafka import murmur2

transcript = pd.read_csv(files_of("threebrokers.data") / "transcript_2017.csv")
transcript["computed"] = [murmur2(struct.pack(">q", key), 13) for key in transcript["key"]]
right = transcript["partition"] == transcript["computed"]
guess.compare("all" if right.all() else "most, not all" if right.mean() > 0.5 else "about one in 13")
print(f"{right.sum()} of {len(transcript)} lines agree. The others:")
transcript[~right]

# %% [markdown] covers="A043 D133 E098 E099 E100"
# The five are one run of a program: five keys, all in partition 0, at five offsets in a row. With 13 partitions that cannot be: the topic of that run must have had one. The other 118 are right to this day. A client can never change its hash function, or its keys would move to other partitions.

# %% [markdown]
# ## Inside the file
#
# Kafka has a tool that shows what is in a segment. Here is the log of `alerts`, your first three records.

# %%
segment = lab.cluster.segments(alerts, 0)[0]
print(lab.cluster.tool("kafka-dump-log", "--files", str(segment), "--print-data-log"))

# %% [markdown]
# A line that begins with `baseOffset` is a batch, and a line that begins with `|` is a record. A batch is what one producer sent to one partition at one time, and it is stored as it came. `crc` is a checksum of the batch, and `compresscodec` is the compression, which the producer chose.
#
# The file is easy to read. A batch begins with 61 bytes in fixed places, and Python can read them.

# %%
raw = segment.read_bytes()
header = {
    "base offset": "q",  # 8 bytes
    "length": "i",  # 4 bytes
    "leader epoch": "i",
    "magic": "b",  # 1 byte
    "crc": "I",
    "attributes": "h",  # 2 bytes
    "last offset delta": "i",
    "first timestamp": "q",
    "last timestamp": "q",
    "producer id": "q",
    "producer epoch": "h",
    "base sequence": "i",
    "records": "i",
}
pd.Series(dict(zip(header, struct.unpack(">" + "".join(header.values()), raw[:61]), strict=True)))

# %% [markdown]
# `magic` is the version of the format: 2 is the only one that Kafka 4 stores. `base offset` is the number that the leader wrote into the batch (0, as this batch is the first of its log). A record says only how far it is from that offset and from the first timestamp. These are small numbers, and small numbers take few bytes: each byte holds seven bits, and its eighth bit says whether one more byte follows.

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


print("bytes in this record:", number())
print("attributes (unused):", rest.read(1)[0])
print("milliseconds after the first:", number())
print("offset after the base:", number())
print("key:", text())
print("value:", text())
print("headers:", {text().decode(): text() for _ in range(number())})

# %% [markdown]
# The tool reads an index too, here of `flights`. To find an offset, a broker takes the last entry before it, goes to that position in the segment, and looks from there.

# %%
index = lab.cluster.tool("kafka-dump-log", "--files", str(folder / "00000000000000000000.index"))
print(*index.splitlines()[:6], sep="\n")

# %% [markdown]
# ### Exercise 2.5: Count the batches
#
# In how many `batches` are the records of `days` stored? Take the number from the dump of partition 0. And `why` are there so many: who ended each batch? Answer with one of these words.
#
# - `"linger"`: the time of `linger.ms` was over.
# - `"size"`: the batch was full (`batch.size`, 1,000,000 bytes in this client).
# - `"flush"`: the program told the producer to send everything now.
# - `"leader"`: the leader put together what had come in.

# %%
# TODO: look at the dump of partition 0 of `days`; set `batches` (a number) and `why` (a word)
# BEGIN SOLUTION
segment = lab.cluster.segments(days, 0)[0]
dump = lab.cluster.tool("kafka-dump-log", "--files", str(segment))
batches = sum(line.startswith("baseOffset") for line in dump.splitlines())
why = "flush"
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Which lines of a dump stand for a batch? Compare `count:` and `size:` in these lines with the cell that filled `days`. What did it do after each day?
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
    "kafka-dump-log", "--files", str(lab.cluster.segments(days, 0)[0]), "--print-data-log"
)
batches = dump.count("| offset:")
why = "flush"

# %% tags=["wrong"]
# counts segments | is the number of files (segments)
batches = len(lab.cluster.segments(days, 0))
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

# %% tags=["nbval-check-output"]
lab.check.batches_counted(batches, why)

# %% [markdown] covers="A042 B006"
# ## Is a file fast enough?
#
# *This section only measures. If your time is over, go to "What to remember".*
#
# One consumer reads all 336,776 flights. How much work is that for the brokers?


# %%
def worked():
    done = lab.cluster.usage().values()
    return sum(broker.processor for broker in done), [broker.read for broker in done]


reader = lab.consumer({"group.id": lab.group("everything"), "enable.auto.commit": False})
reader.assign([TopicPartition(flights, partition, 0) for partition in range(6)])
start, before = time.perf_counter(), worked()
sizes = []
while len(sizes) < 336_776:
    sizes += [len(message.value()) for message in reader.consume(5_000, timeout=0.2)]
print(f"{sum(sizes) / 1e6:.0f} MB of values in {time.perf_counter() - start:.1f} s")
(processor, read), (processor_before, read_before) = worked(), before
print(f"the brokers' processors worked for {processor - processor_before:.2f} s")
if None not in read:  # macOS does not count what is read from the disk
    print(f"{(sum(read) - sum(read_before)) / 1e6:.0f} MB came from the disk")
reader.close()

# %% [markdown] covers="A044 B103"
# Where this was written, it took 2.5 s, nearly all of it in Python. The brokers worked for 0.25 s, and almost nothing came from the disk. There are two reasons.
#
# - The operating system uses free memory for what was written or read a short time ago: the **page cache**. Kafka relies on it and keeps no records in its own memory, which can stay small.
# - A batch has the same bytes in the file and on the network. So the broker asks the system to move them from the file to the network, and never touches them itself: **zero copy**. (With encryption it has to touch them: lab 22.)
#
# A log is written at its end and read in order. Does order matter to a disk? Here is one segment, read in order and in mixed order, from the disk and from the page cache. The numbers are megabytes per second, the best of three. (macOS cannot empty the page cache for one file, so both rows are alike there.)

# %%
import random

from threebrokers.lab.scenarios import megabytes_per_second

BLOCK = 4096
path = lab.cluster.segments(flights, 0)[0]
in_order = range(0, path.stat().st_size, BLOCK)
orders = {"in order": in_order, "mixed": random.sample(in_order, len(in_order))}
measured = {
    name: [
        max(megabytes_per_second(path, places, BLOCK, cached) for _ in range(3)) for cached in (False, True)
    ]
    for name, places in orders.items()
}
pd.DataFrame(measured, index=["from the disk", "from the page cache"]).round().astype(int)

# %% [markdown] covers="E109 E212"
# Where this was written, the disk gave more than ten times as much in order as mixed, although nothing in it turns: the system guesses what is wanted next and fetches it early. In the page cache, order matters much less. (A slide of 2017 says 600 MB/s for six turning disks in order. Compare it with yours.)
#
# And when is a record on the disk, not only in the page cache? The operating system decides. Kafka forces it only when a segment is full and when the broker stops. A record is safe because several brokers have it (lab 03). `flush.messages=1` forces every write; the default is the largest number there is. What does forcing cost?

# %%
topics = {"as always": lab.fresh_topic("unsynced")}
topics["flush.messages=1"] = lab.fresh_topic("synced", config={"flush.messages": "1"})
producer = lab.producer({"linger.ms": 0})


def records_per_second(topic):
    start = time.perf_counter()
    for _ in range(50):
        producer.produce(topic, b"x" * 1000)
        producer.flush()
    return round(50 / (time.perf_counter() - start))


for topic in topics.values():
    records_per_second(topic)  # the first round pays for connections
pd.DataFrame([{name: records_per_second(topic) for name, topic in topics.items()} for _ in range(3)])

# %% [markdown] covers="B102"
# These are records per second in three rounds, with one record under way at a time. On most disks, forcing is slow. If your columns are alike, your disk says "written" before it has written.
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
# ## What to remember
#
# - A topic is a number of partitions, and a partition is a log in a directory: records are added at the end, and reading changes nothing.
# - Order holds inside a partition. The client computes the partition from the key, and clients in other languages may compute another one.
# - An offset is an address, not a count. A timestamp is what somebody's clock said, and does not put the log in order.

# %% [markdown] covers="B052"
# ## Quiz
#
# 1. Why did the seven records come out of order, and how do you get them in order? And must one of the brokers be started first?
#
# <details><summary>Answer</summary>
#
# They were in several partitions, and between partitions there is no order. With one partition, or with one key for all seven, they stay in order. And no: old courses start a server called ZooKeeper first; since Kafka 4 there are only brokers and controllers, in any order.
#
# </details>
#
# 2. A colleague says: "We have read all records, so the topic is empty now." What do you answer?
#
# <details><summary>Answer</summary>
#
# Reading takes nothing away. Records go, read or not, when they are too old, when a partition is too large, or when compaction removes them (labs 08 and 09).
#
# </details>
#
# 3. The first offset of a partition is 0, the last one 999. How many records are in it?
#
# <details><summary>Answer</summary>
#
# At most 1,000. The marks of transactions and compaction leave gaps.
#
# </details>
#
# 4. A Java program writes orders with the customer as key. A Python program adds corrections with the same key. The reader sees a correction before its order. Why?
#
# <details><summary>Answer</summary>
#
# The two clients have different hash functions, so the order and its correction are in different partitions. With `"partitioner": "murmur2_random"` the Python client chooses as Java does.
#
# </details>
#
# 5. A program reads 20 records at a known place. Does it need a consumer group?
#
# <details><summary>Answer</summary>
#
# No: `assign()` with an offset is enough (this client only asks for a group's name). A group is there to share partitions and to remember positions.
#
# </details>

# %% [markdown]
# Compare with the [solution](../solutions/02_the_log.ipynb). Next lab: [What does a replica protect you from?](03_replication.ipynb)
