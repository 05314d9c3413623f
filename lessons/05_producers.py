# %% [markdown]
# # How fast can you be sure?
#
# **You will** measure three ways of sending and write the one that is fast and loses no error, choose batches and a way to compress them by what the log's own files say, and decide what a program does about each error.
#
# *{minutes} minutes, and {further} more if you go further. The lab has two halves; each stands alone, so there is a place to pause. You need lab 03: replicas, `acks`.*

# %%
from threebrokers import open_lab

lab = open_lab("05")

# %% [markdown]
# Three questions from earlier labs, to see what is still there:

# %%
lab.review()

# %% [markdown] covers="A099 D028 B108 A106"
# ## What `produce()` sets in motion
#
# `produce()` sends nothing. It only begins this:
#
# 1. Key and value are turned into bytes, and a partition is chosen.
# 2. The record goes into a queue in memory, one for each partition.
# 3. A thread of the client takes what has come together there: a **batch**. Each batch travels to its leader in a request of its own. No other server stands between: the client knows the leaders from the metadata.
# 4. The leader stores the batch, its followers fetch it, and the leader answers.
# 5. The answer waits as a **delivery report**, until your program calls `poll()` or `flush()`.
#
# So a program has a choice: when does it wait?

# %% [markdown] covers="A125 C018 C019 D034 B079 A130"
# ## Three ways to send
#
# Six shops send their orders. The brokers will refuse some, and the programs do not know why. Here are two programs. The first one sends and forgets; the second one waits for each order, and returns what was refused.

# %%
from threebrokers.lab.scenarios import compared_ways, send_and_listen, shop_orders


def fire_and_forget(producer, topic, orders):
    for order in orders:
        producer.produce(topic, **order)


def wait_for_each(producer, topic, orders):
    refused = []
    for order in orders:
        producer.produce(topic, **order, on_delivery=lambda e, m: e and refused.append(m.value()))
        producer.flush()
    return refused


shop_orders(1)[0]  # what produce() gets of one order

# %% [markdown]
# The third program, `send_and_listen`, sends on, and takes the reports as they come. You will write such a one yourself.

# %%
guess_5a = lab.predict("5.a")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_5a.choose("5 to 20 times")
# END SOLUTION

# %%
ways = {"fire and forget": fire_and_forget, "wait for each": wait_for_each, "listen": send_and_listen}
by_way = compared_ways(lab, ways, count=300)
times = by_way.loc["wait for each", "seconds"] / by_way.loc["listen", "seconds"]
guess_5a.compare(
    "less than 5 times" if times < 5 else "5 to 20 times" if times <= 20 else "more than 20 times"
)
by_way.round(3)

# %%
from threebrokers.lab.scenarios import bar_chart

bar_chart(dict(by_way["orders a second"]), "300 orders, three ways to send", "orders a second", log=True)
knows = by_way["not stored"] == by_way["errors it knows of"]
lab.observed("Fire and forget does not know which orders are missing", not knows["fire and forget"])
lab.observed("The other two know it", knows["wait for each"] and knows["listen"])

# %% [markdown] covers="C004 D005"
# Each step on the scale of the bars is ten times more. To wait for each order costs a journey to the leader, one to its followers, and one back, every time. Who listens pays about the same for hundreds.
#
# *Fire and forget* is faster still, and worth nothing. Its bar counts what it gave to the client, not what arrived: it ended before the orders could arrive. With a `flush()` at its end they would, and it still would not know which were refused: nobody takes its reports.
#
# The other two know which 50 orders were refused. All are from one shop, with a partition of its own: its clock is a day ahead. A leader refuses a timestamp more than an hour ahead (`message.timestamp.after.max.ms`).

# %% [markdown]
# ### Exercise 5.1: Fast, and no error lost
#
# Write `send(producer, topic, orders)`. It does not wait for each order: ten or more are on their way at once, or it is ten times as fast as *wait for each*. It returns a list with the value of each order that is not stored. And the memory is small: this `producer` holds 100 records at most, until their reports are taken.
#
# `trial(lab, send)` tries it with 300 orders and prints what became of them.

# %%
from threebrokers.lab.scenarios import trial


# TODO: write the function `send`
# BEGIN SOLUTION
def send(producer, topic, orders):
    refused = []
    for order in orders:
        while len(producer) >= 100:
            producer.poll(0.01)
        producer.produce(topic, **order, on_delivery=lambda e, m: e and refused.append(m.value()))
    producer.flush()
    return refused


# END SOLUTION


last_trial = trial(lab, send)

# %% [markdown] covers="B151 D039" explains="BufferError"
# <details><summary>Hint</summary>
#
# Begin with `fire_and_forget` and run the trial: which error comes, and after how many orders? What makes room in the queue? And how do the last orders get their reports?
#
# </details>
# <details><summary>Another hint</summary>
#
# A full queue is a `BufferError`: `produce()` has not taken the record. `poll(0.01)` waits up to 10 ms and takes reports, which makes room; `len(producer)` counts what is in the queue. Then the same order can be sent once more. `flush()` belongs to the end.
#
# </details>


# %% tags=["wrong"]
# waits for each | times as fast as a program that waits for each order
def send(producer, topic, orders):
    refused = []
    for order in orders:
        producer.produce(topic, **order, on_delivery=lambda e, m: e and refused.append(m.value()))
        producer.flush()
    return refused


# %% tags=["wrong"]
# never polls | ended with BufferError: 100 records wait
def send(producer, topic, orders):
    refused = []
    for order in orders:
        producer.produce(topic, **order, on_delivery=lambda e, m: e and refused.append(m.value()))
    producer.flush()
    return refused


# %% tags=["wrong"]
# no callback | no function was there for the delivery reports
def send(producer, topic, orders):
    for order in orders:
        while len(producer) > 90:
            producer.poll(0.01)
        producer.produce(topic, **order)
    producer.flush()
    return []


# %% tags=["wrong"]
# acks=0, with a producer of its own | with acks=0 no leader says
def send(producer, topic, orders):
    refused = []
    hasty = lab.producer({"acks": 0})
    for order in orders:
        hasty.produce(topic, **order, on_delivery=lambda e, m: e and refused.append(m.value()))
    hasty.flush()
    return refused


# %% tags=["wrong"]
# acks=0, with a plain producer of its own | it sent nothing with the `producer` that it was given
from confluent_kafka import Producer


def send(producer, topic, orders):
    refused = []
    hasty = Producer({"bootstrap.servers": lab.bootstrap, "acks": 0})
    for order in orders:
        hasty.produce(topic, **order, on_delivery=lambda e, m: e and refused.append(m.value()))
    hasty.flush()
    return refused


# %% tags=["wrong"]
# does not wait for the last reports | orders had no delivery report
def send(producer, topic, orders):
    refused = []
    for order in orders:
        while len(producer) > 90:
            producer.poll(0.01)
        producer.produce(topic, **order, on_delivery=lambda e, m: e and refused.append(m.value()))
    return refused


# %% tags=["wrong"]
# keeps the errors | returned a list with an error (INVALID_
def send(producer, topic, orders):
    refused = []
    for order in orders:
        while len(producer) > 90:
            producer.poll(0.01)
        producer.produce(topic, **order, on_delivery=lambda e, m: e and refused.append(e))
    producer.flush()
    return refused


# %% tags=["wrong"]
# drops the order that found the queue full | good orders never came into the producer
def send(producer, topic, orders):
    refused = []
    for order in orders:
        try:
            producer.produce(topic, **order, on_delivery=lambda e, m: e and refused.append(m.value()))
        except BufferError:
            producer.poll(0.01)
    producer.flush()
    return refused


# %% tags=["wrong"]
# returns every order | orders that are in the topic; only those
def send(producer, topic, orders):
    refused = []
    for order in orders:
        while len(producer) > 90:
            producer.poll(0.01)
        producer.produce(topic, **order, on_delivery=lambda e, m: refused.append(m.value()))
    producer.flush()
    return refused


# %% tags=["wrong"]
# a callback with one argument | ended in an error: a delivery callback is called with two arguments
def send(producer, topic, orders):
    refused = []
    for order in orders:
        producer.produce(topic, **order, on_delivery=refused.append)
    producer.flush()
    return refused


# %% tags=["right"]
# sends again what found the queue full, and flushes then
def send(producer, topic, orders):
    refused = []
    for order in orders:
        try:
            producer.produce(topic, **order, on_delivery=lambda e, m: e and refused.append(m.value()))
        except BufferError:
            producer.flush()
            producer.produce(topic, **order, on_delivery=lambda e, m: e and refused.append(m.value()))
    producer.flush()
    return refused


# %% tags=["right"]
# a plain producer of its own with the default queue, and messages kept whole
from confluent_kafka import Producer


def send(producer, topic, orders):
    refused = []
    with Producer({"bootstrap.servers": lab.bootstrap}) as own:
        for order in orders:
            own.produce(topic, **order, on_delivery=lambda e, m: e and refused.append(m))
            own.poll(0)
    return refused


# %% tags=["nbval-check-output"]
lab.check.fast_and_sure(send)

# %% [markdown] covers="A107 B120 A105"
# ## What does certainty cost?
#
# `acks` says when the leader answers: at once (`1`), when all replicas in sync have the record (`all`, the default; `-1` means the same), or never (`0`). Java's documentation gives `acks` the importance *low*. **Predict**, then measure two times: until the producer is told, and until a consumer has the record.

# %%
guess_5b = lab.predict("5.b")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_5b.choose("both grow from 0 to all")
# END SOLUTION

# %%
from threebrokers.lab.scenarios import two_latencies

latency = two_latencies(lab, [0, 1, "all"])
told, read = latency["acknowledged (ms)"], latency["readable (ms)"]
grows = told["acks=0"] < told["acks=1"] < told["acks=all"]
lab.observed("The producer was told later with each step", grows)
lab.observed("A reader waited about as long each time", read.max() < 1.5 * read.min())
both = read["acks=all"] > 1.5 * read["acks=0"]
later = "both grow from 0 to all" if both else "only the acknowledgement takes longer"
guess_5b.compare(later if grows else "neither changes")
latency.round(2)

# %% [markdown]
# These are medians of 160 records each, one record on its way at a time; the settings take turns. (With `acks=0` nobody acknowledges: the client reports when it has sent the record.) A reader waits until the replicas in sync have the record, whatever the producer has asked for. So `acks=1` makes no reader faster. It only lets the producer believe sooner, and, as in 5.1, it need not stand still meanwhile. Who wants speed should first stop waiting, and leave `acks` as it is.

# %% [markdown] covers="A015 A113 D136 B111 E044 B007" explains="batch.size"
# ## What travels together
#
# A batch is the unit of a request, of a file, of what a reader gets, and of what a *codec* (a way to compress) packs. `compression.type` can be `gzip`, `snappy`, `lz4` or `zstd`; the default is `none`. A batch ends when `linger.ms` is over, when it has `batch.size` bytes, or at a `flush()`.
#
# The next experiment writes flights again and again: 200 of them with one, ten or a hundred records in a batch, and 1,000 with a thousand. It counts bytes in the log's files. **Predict** one of its numbers.

# %%
guess_5c = lab.predict("5.c")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_5c.choose("about two thirds")
# END SOLUTION

# %%
from threebrokers.data import flight_messages
from threebrokers.lab.scenarios import line_chart, packed_sizes

flights = flight_messages(month=1)
codecs = ["none", "snappy", "lz4", "zstd", "gzip"]
sizes = packed_sizes(lab, flights[:1000], codecs, [1, 10, 100, 1000])
alone = sizes.loc[1, "zstd"]
guess_5c.compare(
    "about a fifth" if alone < 40 else "about two thirds" if alone < 90 else "larger than the values"
)
line_chart(sizes, "Flights in the log's files", "% of the bytes of the values")
sizes.round(0).astype(int)

# %% [markdown]
# Both show the stored bytes, keys and heads too, in percent of the bytes of the values. With one record a batch every line begins above 100: there is little to pack, and each batch has a head of 61 bytes. And with each codec, the step from one record to a hundred saves far more than the step to another codec.

# %% [markdown]
# ### Exercise 5.2: A fifth of the bytes
#
# Somebody has read that zstd is the best codec. This is the program:

# %%
from threebrokers.lab.scenarios import bytes_stored, stored_batches

first = lab.fresh_topic("first", replication_factor=3)
careful = lab.producer({"compression.type": "zstd"})
for key, value in flights[:100]:
    careful.produce(first, value, key)
    careful.flush()
print(f"{100 * bytes_stored(lab, first) / sum(len(value) for _, value in flights[:100]):.0f} % of the bytes")
stored_batches(lab, first)[0]

# %% [markdown]
# Below the percentage stands the head of the first batch, read from the file. Compare it with the table above.
#
# Send the first 400 flights to `small`, so that its batches have at most a fifth (20 %) of the bytes of the values. The values must arrive as they are, and travel packed.

# %%
wanted = flights[:400]
# TODO: make the topic `small` and the producer `packer`, and send each key and value of `wanted`
# BEGIN SOLUTION
small = lab.fresh_topic("small", replication_factor=3)
packer = lab.producer({"compression.type": "zstd", "linger.ms": 1000})
for key, value in wanted:
    packer.produce(small, value, key)
left = packer.flush()
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# How many records does a batch of the program above have? What ends each batch? And is every codec of the table below 20 %?
#
# </details>
# <details><summary>Another hint</summary>
#
# `stored_batches(lab, small)` shows `records`, `size` and `codec` of each batch. A flush() sends what is there; `linger.ms` lets the client wait for more. Look at the last two rows of the table above: which two codecs pack most, and how many records make the difference?
#
# </details>

# %% tags=["wrong"]
# the program above: a flush for each | packs one record at a time
small = lab.fresh_topic("small")
packer = lab.producer({"compression.type": "zstd"})
for key, value in wanted:
    packer.produce(small, value, key)
    packer.flush()

# %% tags=["wrong"]
# batches of a few records | packs 5.0 records at a time
small = lab.fresh_topic("small")
packer = lab.producer({"compression.type": "zstd", "linger.ms": 100, "batch.num.messages": 5})
for key, value in wanted:
    packer.produce(small, value, key)
packer.flush()

# %% tags=["wrong"]
# no codec | nothing is compressed
small = lab.fresh_topic("small")
packer = lab.producer({"linger.ms": 100})
for key, value in wanted:
    packer.produce(small, value, key)
packer.flush()

# %% tags=["wrong"]
# a fast codec that packs less | with lz4 and
small = lab.fresh_topic("small")
packer = lab.producer({"compression.type": "lz4", "linger.ms": 100})
for key, value in wanted:
    packer.produce(small, value, key)
packer.flush()

# %% tags=["wrong"]
# packs each value itself | has another value than each flight
import zlib

small = lab.fresh_topic("small")
packer = lab.producer({"compression.type": "zstd", "linger.ms": 100})
for key, value in wanted:
    packer.produce(small, zlib.compress(value), key)
packer.flush()

# %% tags=["wrong"]
# a text of each key | and its flight has b'
small = lab.fresh_topic("small")
packer = lab.producer({"compression.type": "zstd", "linger.ms": 100})
for key, value in wanted:
    packer.produce(small, value, str(key))
packer.flush()

# %% tags=["wrong"]
# a codec for the topic only | so the leader packs what comes in unpacked
small = lab.fresh_topic("small", config={"compression.type": "zstd"})
packer = lab.producer({"linger.ms": 100})
for key, value in wanted:
    packer.produce(small, value, key)
packer.flush()

# %% tags=["wrong"]
# no flush | have no delivery report yet
small = lab.fresh_topic("small")
packer = lab.producer({"compression.type": "zstd", "linger.ms": 60_000})
for key, value in wanted:
    packer.produce(small, value, key)

# %% tags=["right"]
# gzip, and a plain producer
from confluent_kafka import Producer

small = lab.fresh_topic("small", partitions=2)
packer = Producer({"bootstrap.servers": lab.bootstrap, "compression.type": "gzip", "linger.ms": 500})
for key, value in wanted:
    packer.produce(small, value, key)
packer.flush()

# %% tags=["right"]
# the same codec for the topic too, and lists of flights
small = lab.fresh_topic("small", replication_factor=3, config={"compression.type": "zstd"})
packer = lab.producer({"compression.codec": "zstd", "compression.type": "zstd", "linger.ms": 500})
packer.list_topics(small)
for key, value in wanted:
    packer.produce(small, value.decode(), key.decode() if key else None)
packer.poll(0)
packer.flush()

# %% tags=["nbval-check-output"]
lab.check.fifth_of_the_bytes(small, packer)

# %% [markdown] covers="A015" explains="partitioner.class"
# ## A place to pause
#
# The first half was about speed. The second half is about other decisions, which partition, and what to do about errors. It needs only the first cell of this page.
#
# ## Which partition?
#
# The key chooses the partition, unless the program names one: `produce(…, partition=2)`. In Java a class can do that for every record (`partitioner.class`). This client has no place for a function of yours: compute the number, and pass it.

# %% [markdown] covers="A119 A122 D012 D029 B035"
# In a factory, critical alerts must not wait behind others. Somebody has given them a partition of their own, number 0 of three. All others go where the hash of their level says. `consistent` is the client's own function (lab 02).

# %%
from confluent_kafka import consistent


def by_level(level, partitions):
    return 0 if level == "CRITICAL" else consistent(level.encode(), partitions)


# %%
guess_5d = lab.predict("5.d")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_5d.choose("CRITICAL and one more")
# END SOLUTION

# %%
from threebrokers.lab.scenarios import LEVELS, where_they_are

alerts = lab.fresh_topic("machine-alerts", partitions=3)
alarm = lab.producer()
for level in LEVELS * 25:
    alarm.produce(alerts, "look at the machine", level, partition=by_level(level, 3))
alarm.flush()
alert_places = where_they_are(lab, alerts, 3)
beside = (alert_places["partition 0"] > 0).sum()
guess_5d.compare({1: "CRITICAL alone", 2: "CRITICAL and one more"}.get(beside, "all four levels"))
alert_places

# %% [markdown] covers="B164 B165"
# A partition belongs to somebody only if all others are kept off it. And for this function `critical` is another level: no error tells you.

# %% [markdown]
# ### Exercise 5.3: A partition of their own
#
# Share prices go to four partitions. IBM and UBER are important: the last partition is theirs alone. Write `partition_of(symbol, partitions)`:
#
# - All others, whatever their names (`ibm` is not `IBM`), share the partitions before it, each symbol always in the same one, also after a restart.
# - Some prices have no symbol (`None`). They go anywhere but to the last partition.
# - It is right for any number of partitions. If there is only one, all share it. (Partitions without a leader count, too.)

# %%
from threebrokers.lab.scenarios import IMPORTANT, send_prices


# TODO: write the function `partition_of`
# BEGIN SOLUTION
def partition_of(symbol, partitions):
    last = partitions - 1
    if symbol in IMPORTANT or last == 0:
        return last
    return consistent((symbol or "").encode(), last)


# END SOLUTION


send_prices(lab, partition_of)  # 260 prices; the table shows where they are

# %% [markdown]
# <details><summary>Hint</summary>
#
# `by_level` divides the hash by the number of all partitions. Which remainders are possible then, and which should be? What is a hash of nothing?
#
# </details>
# <details><summary>Another hint</summary>
#
# `consistent(key, n)` and `murmur2(key, n)` of confluent_kafka take bytes, and return 0 to n-1. Python's own `hash()` of a text is another number in each process, so it is no help. With one partition, n-1 is 0, and nobody divides by that.
#
# </details>


# %% tags=["wrong"]
# the hash may come to the last partition | the number by which the hash is divided
def partition_of(symbol, partitions):
    if symbol in IMPORTANT:
        return partitions - 1
    return consistent((symbol or "").encode(), partitions)


# %% tags=["wrong"]
# Python's hash() | are those of Python's hash()
def partition_of(symbol, partitions):
    if symbol in IMPORTANT or partitions == 1:
        return partitions - 1
    return hash(symbol) % (partitions - 1)


# %% tags=["wrong"]
# forgets prices without a symbol | `partition_of(None, 4)` ended with AttributeError
def partition_of(symbol, partitions):
    if symbol in IMPORTANT or partitions == 1:
        return partitions - 1
    return consistent(symbol.encode(), partitions - 1)


# %% tags=["wrong"]
# divides by zero | 1)` ended with
def partition_of(symbol, partitions):
    if symbol in IMPORTANT:
        return partitions - 1
    return sum((symbol or "").encode()) % (partitions - 1)


# %% tags=["wrong"]
# always four partitions | which is not always 4
def partition_of(symbol, partitions):
    if partitions == 1:
        return 0
    if symbol in IMPORTANT:
        return min(3, partitions - 1)
    return min(consistent((symbol or "").encode(), 3), partitions - 1)


# %% tags=["wrong"]
# all others into one | other symbols use 1 of 3
def partition_of(symbol, partitions):
    return partitions - 1 if symbol in IMPORTANT else 0


# %% tags=["wrong"]
# the critical ones first, as in the factory | IBM goes to partition 0
def partition_of(symbol, partitions):
    if symbol in IMPORTANT or partitions == 1:
        return 0
    return 1 + consistent((symbol or "").encode(), partitions - 1)


# %% tags=["wrong"]
# forgets the others | `partition_of('AAPL', 4)` returned None
def partition_of(symbol, partitions):
    if symbol in IMPORTANT:
        return partitions - 1
    return None


# %% tags=["wrong"]
# not every name is ASCII | `partition_of('NESTLÉ', 4)` ended with UnicodeEncodeError
def partition_of(symbol, partitions):
    if symbol in IMPORTANT or partitions == 1:
        return partitions - 1
    return consistent((symbol or "-").encode("ascii"), partitions - 1)


# %% tags=["wrong"]
# in other letters it is another symbol | Look at: what `partition_of` compares
def partition_of(symbol, partitions):
    if (symbol or "").upper() in IMPORTANT or partitions == 1:
        return partitions - 1
    return consistent((symbol or "").encode(), partitions - 1)


# %% tags=["wrong"]
# `or` between two names | it puts every symbol there
def partition_of(symbol, partitions):
    if symbol == "IBM" or "UBER":  # noqa: SIM222
        return partitions - 1
    return consistent((symbol or "").encode(), partitions - 1)


# %% tags=["wrong"]
# remembers who came first | if the program starts again
seen = {}


def partition_of(symbol, partitions):
    if symbol in IMPORTANT or partitions == 1:
        return partitions - 1
    return seen.setdefault(symbol, len(seen)) % (partitions - 1)


# %% tags=["right"]
# murmur2, and a table
from confluent_kafka import murmur2

OWN = {"IBM": -1, "UBER": -1}


def partition_of(symbol, partitions):
    if partitions == 1:
        return 0
    return range(partitions)[OWN.get(symbol, murmur2(str(symbol).encode(), partitions - 1))]


# %% tags=["right"]
# CRC32 of Python, prices without a symbol at random
import secrets
import zlib


def partition_of(symbol, partitions):
    last = partitions - 1
    if symbol in IMPORTANT or not last:
        return last
    return zlib.crc32(symbol.encode()) % last if symbol else secrets.randbelow(last)


# %% tags=["nbval-check-output"]
lab.check.partition_of_their_own(partition_of)

# %% [markdown] covers="A100 D118"
# ## When a record is refused
#
# A leader looks at a batch before it stores it. May this program write here, are the records well-formed, is their time possible, is the batch not too large, are enough replicas in sync?
#
# The topic `positions` keeps the last flight of each aircraft (it is *compacted*: lab 09), so every record needs a key. One flight of the next batch has none: its tail number is missing.

# %%
guess_5e = lab.predict("5.e")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_5e.choose("1")
# END SOLUTION

# %%
from collections import Counter

positions = lab.fresh_topic("positions", replication_factor=3, config={"cleanup.policy": "compact"})
refusals = []
tower = lab.producer({"linger.ms": 1000, "on_delivery": lambda error, message: refusals.append(error)})
for key in [f"N{number}" for number in range(100)] + [None]:
    tower.produce(positions, "in the air", key)
tower.flush()
refused = sum(error is not None for error in refusals)
guess_5e.compare({101: "101", 1: "1"}.get(refused, "none: it is left out without a word"))
Counter(error.str() if error else "stored" for error in refusals)

# %% [markdown]
# A batch is stored as it came, or not at all. So one bad record makes the leader refuse all that travel with it: look at your records *before* you send them. Such a report (`INVALID_RECORD`) speaks of the whole batch: send each of its records once more by itself, and put aside what is refused alone.
#
# Here are six errors, each made to happen. (The last one is made by hand: your brokers let everybody write.)

# %%
from threebrokers.lab.scenarios import in_words, six_errors

six = six_errors(lab, alerts)
in_words(six)

# %% [markdown] covers="C020 D036 D037 B168 D040 E042" explains="retries, fatal, retriable"
# - Some errors are raised by `produce()`, before anything is sent. The others come in a report.
# - Books divide errors into *retriable* and others. An error that may pass is reported only after this client has tried again (`retries`) for up to five minutes (`message.timeout.ms`); one that cannot pass, at once. So `retriable()` is never true here: it speaks of transactions.
# - `timed out`: nobody answered, and the client gave up. The record may be stored all the same.
# - `no such topic` and `not allowed`: that stays so until a person makes the topic, or changes the rights.
# - `fenced`: another producer has taken this one's place. The error is **fatal**: this producer can never send again.

# %% [markdown]
# ### Exercise 5.4: Six errors, three answers
#
# Write `decide(error)`. It gets an error, raised or from a report (like the values of `six`), and returns one of three words:
#
# - `"again"`: the program itself can send the same record again, now or a little later (to have it twice does no harm here);
# - `"aside"`: this record is kept apart, for a person to look at, and the program goes on;
# - `"stop"`: this producer is finished. That is so after *any* fatal error.
#
# `after_errors` lets programs meet the six once more and do what you say; *again* is up to three times. Its table tells what became of the record, and of a good one behind it.

# %%
from confluent_kafka import KafkaError, KafkaException

from threebrokers.lab.scenarios import after_errors


# TODO: write the function `decide`
# BEGIN SOLUTION
def decide(error):
    if isinstance(error, BufferError):
        return "again"
    inner = error.args[0] if isinstance(error, KafkaException) else error
    if inner.fatal():
        return "stop"
    return "again" if inner.code() == KafkaError._MSG_TIMED_OUT else "aside"


# END SOLUTION


after_errors(lab, decide)

# %% [markdown]
# <details><summary>Hint</summary>
#
# Which of the six would end differently if the same record were sent once more? Which one says of itself that all is over?
#
# </details>
# <details><summary>Another hint</summary>
#
# A `KafkaException` carries a `KafkaError` as `error.args[0]`; a report gives the `KafkaError` itself. That has `code()`, to compare with for example `KafkaError._MSG_TIMED_OUT`, and `fatal()`. A `BufferError` is Python's own and has neither.
#
# </details>


# %% tags=["wrong"]
# does not look into the KafkaException | after 'too large' `decide` ended with AttributeError
def decide(error):
    if isinstance(error, BufferError):
        return "again"
    return "stop" if error.fatal() else "aside"


# %% tags=["wrong"]
# believes retriable() | after 'timed out' `decide` says 'aside'
def decide(error):
    if isinstance(error, BufferError):
        return "again"
    inner = error.args[0] if isinstance(error, KafkaException) else error
    if inner.fatal():
        return "stop"
    return "again" if inner.retriable() else "aside"


# %% tags=["wrong"]
# sends everything again | after 'too large' `decide` says 'again': the record was refused 3 times more
def decide(error):
    return "again"


# %% tags=["wrong"]
# puts everything aside | after 'queue full' `decide` says 'aside': the record was kept apart
def decide(error):
    return "aside"


# %% tags=["wrong"]
# stops at every error | and a good one behind it was not sent
def decide(error):
    return "stop"


# %% tags=["wrong"]
# knows only one fatal error | another error that is fatal
def decide(error):
    if isinstance(error, BufferError):
        return "again"
    inner = error.args[0] if isinstance(error, KafkaException) else error
    if inner.code() == KafkaError._FENCED:
        return "stop"
    return "again" if inner.code() == KafkaError._MSG_TIMED_OUT else "aside"


# %% tags=["wrong"]
# looks at the code first | a fatal error with the code of a time-out
def decide(error):
    if isinstance(error, BufferError):
        return "again"
    inner = error.args[0] if isinstance(error, KafkaException) else error
    if inner.code() == KafkaError._MSG_TIMED_OUT:
        return "again"
    return "stop" if inner.fatal() else "aside"


# %% tags=["wrong"]
# goes on after being fenced | and a good one behind it was refused
def decide(error):
    if isinstance(error, BufferError):
        return "again"
    inner = error.args[0] if isinstance(error, KafkaException) else error
    return "again" if inner.code() == KafkaError._MSG_TIMED_OUT else "aside"


# %% tags=["wrong"]
# waits for a topic that nobody has made | after 'no such topic' `decide` says 'again'
def decide(error):
    if isinstance(error, BufferError):
        return "again"
    inner = error.args[0] if isinstance(error, KafkaException) else error
    if inner.fatal():
        return "stop"
    return "aside" if inner.code() == KafkaError.MSG_SIZE_TOO_LARGE else "again"


# %% tags=["wrong"]
# swallows what it does not know | after 'too large' `decide` returned None
def decide(error):
    if isinstance(error, BufferError):
        return "again"
    if isinstance(error, KafkaError) and error.fatal():
        return "stop"
    return None


# %% tags=["right"]
# by names, in other letters
def decide(error):
    if isinstance(error, BufferError):
        return "Again"
    inner = getattr(error, "args", (error,))[0]
    return "STOP" if inner.fatal() else "again" if inner.name() == "_MSG_TIMED_OUT" else "aside"


# %% tags=["right"]
# with match
def decide(error):
    match error:
        case BufferError():
            return "again"
        case KafkaException():
            return decide(error.args[0])
        case _ if error.fatal():
            return "stop"
        case _:
            return (
                "again"
                if error.code() in (KafkaError._MSG_TIMED_OUT, KafkaError.REQUEST_TIMED_OUT)
                else "aside"
            )


# %% tags=["nbval-check-output"]
lab.check.errors_decided(decide)

# %% [markdown] covers="D158 B149"
# *Aside* needs a place: a file, another topic, a table. Whoever sends *again* after a time-out may store a record twice, or behind later ones. The client itself does so after a lost answer, unless `enable.idempotence` is True: Java's default, and not this client's (more in lab 10).
#
# ## The end of a program
#
# What waits in a producer must be sent before the program ends. Here a producer is opened in a `with` block, and the block ends in an error.

# %%
guess_5f = lab.predict("5.f")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_5f.choose("they are thrown away, as a database rolls back")
# END SOLUTION

# %%
from threebrokers.kafka.log_reader import read_log

wages = lab.fresh_topic("wages", replication_factor=3)
try:
    with lab.producer({"linger.ms": 60_000}) as payer:
        for name in ("Ada", "Bao", "Chika"):
            payer.produce(wages, f"{name} gets 100")
        raise ValueError("the fourth name is missing")
except ValueError as error:
    print(f"The block ended: {error}.")
arrived = len(read_log(lab.bootstrap, wages))
guess_5f.compare("they are sent" if arrived == 3 else "they are thrown away, as a database rolls back")
print(f"{arrived} records are in the topic.")

# %% [markdown] covers="B170"
# The end of the block closes the producer, after an error and Ctrl-C too, and `close()` waits until each record has its report: five minutes at most. It is no transaction: what was sent before the error stays.
#
# A producer that is only dropped throws away what waits. *Going further* shows what the client says then.

# %% [markdown]
# ## Here and in production
#
# | | here | the client's default |
# |---|---|---|
# | `reconnect.backoff.ms`, `reconnect.backoff.max.ms`: pauses before it connects again | 50 ms, 0.5 s | 100 ms, 10 s |
# | `message.timeout.ms`, for *timed out* in the table of errors | 0.1 s | 5 min |
# | `topic.metadata.propagation.max.ms`, for *no such topic* | 0.1 s | 30 s |
# | `queue.buffering.max.messages`, in exercise 5.1 | 100 | 100,000 |
#
# And all three brokers are on your machine, so a journey is short. The longer it is, the more is gained by not waiting.

# %% [markdown]
# ## What to remember
#
# - Do not wait for each record: take reports as they come, make room when the queue is full, and look at every error.
# - Batches decide speed and size. What ends a batch is `linger.ms`, `batch.size`, or your own `flush()`.
# - An error is one of three: send again, put aside, stop. A batch is stored whole, or not at all.
#
# ## Quiz
#
# Each answer is explained when you have chosen it. The first one is kept with your progress, on this machine.

# %%
lab.quiz()

# %% [markdown]
# ## Going further
#
# No other lab needs what follows. Each section stands by itself and needs only the first cell; an exercise belongs to the section before it.

# %% [markdown] covers="B109 B155 B156 D041 D042 B110 B157 B154 B150" explains="batch.num.messages"
# ### A stream that never stops
#
# So far everything was there at once. A real source gives a little all the time: here 2,500 readings a second of 30 machines. A batch ends with whichever comes first:
#
# - `linger.ms` is over (5 ms; 0 in Java before Kafka 4.0);
# - it has `batch.size` bytes (1,000,000; Java: 16,384), or `batch.num.messages` records (10,000);
# - the program calls `flush()`.
#
# A record that is larger than `batch.size` travels alone. Each request carries one batch (in Java one for each partition of the leader), and several requests are on their way at once. Somebody has copied settings from a tuning guide of 2017: `batch.size` 64 K, and `linger.ms` is not mentioned. (A batch that a codec does not make smaller is sent as it is.)

# %%
from collections import Counter

from threebrokers.lab.scenarios import readings, stored_batches

guide = lab.fresh_topic("inspected", partitions=3)
batching, packing = {"batch.size": 65_536}, {"compression.type": "snappy"}
tuned = lab.producer({**batching, **packing})  # a dictionary for each concern
for key, value in readings(seconds=0.7, rate=2500):
    tuned.produce(guide, value, key)
tuned.flush()
inspected = stored_batches(lab, guide)
print(f"{sum(b.records for b in inspected) / len(inspected):.1f} readings a batch,", end=" ")
print(f"codecs: {dict(Counter(b.codec for b in inspected))}")

# %% [markdown]
# ### Exercise 5.5: A hundred a batch
#
# Send the readings, each when it comes, so that a batch has 100 of them or more on average, and that the first reading of a batch waits for the last one for half a second at most. Keep the keys, so that each machine's readings stay in order.

# %%
stream = lab.fresh_topic("machine-readings", partitions=3)
# TODO: make the producer `streamer`, and send each key and value of readings(0.7, 2500)
# BEGIN SOLUTION
streamer = lab.producer({"linger.ms": 200})
for key, value in readings(seconds=0.7, rate=2500):
    streamer.produce(stream, value, key)
left = streamer.flush()
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# How many readings a second come to one partition? How long does it need for 100 of them? And what is the longest time that a reading may wait?
#
# </details>
# <details><summary>Another hint</summary>
#
# `stored_batches(lab, stream)` has `records`, `first_timestamp` and `max_timestamp` of each batch. Only one of the three ends of a batch can be moved: full it never gets, and `flush()` comes after the loop.
#
# </details>

# %% tags=["wrong"]
# the client's own linger | waits for more for 5 ms
streamer = lab.producer()
for key, value in readings(0.7, 2500):
    streamer.produce(stream, value, key)
streamer.flush()

# %% tags=["wrong"]
# forgets that there are three partitions | with linger.ms=50
streamer = lab.producer({"linger.ms": 50})
for key, value in readings(0.7, 2500):
    streamer.produce(stream, value, key)
streamer.flush()

# %% tags=["wrong"]
# waits for everything | a reading waited
streamer = lab.producer({"linger.ms": 5000})
for key, value in readings(0.7, 2500):
    streamer.produce(stream, value, key)
streamer.flush()

# %% tags=["wrong"]
# gives up the keys | some readings have no key
streamer = lab.producer({"linger.ms": 200})
for _, value in readings(0.7, 2500):
    streamer.produce(stream, value)
streamer.flush()

# %% tags=["wrong"]
# collects all of them first | by their timestamps all readings were sent within
streamer = lab.producer()
for key, value in list(readings(0.7, 2500)):
    streamer.produce(stream, value, key)
streamer.flush()

# %% tags=["wrong"]
# a part of the readings | of 1,750 readings
streamer = lab.producer({"linger.ms": 200})
for key, value in readings(0.1, 2500):
    streamer.produce(stream, value, key)
streamer.flush()

# %% tags=["right"]
# a plain producer that ends batches by their number
from confluent_kafka import Producer

streamer = Producer({"bootstrap.servers": lab.bootstrap, "linger.ms": 400, "batch.num.messages": 150})
for key, value in readings(0.7, 2500):
    streamer.produce(stream, value, key)
    streamer.poll(0)
streamer.flush()

# %% tags=["nbval-check-output"]
lab.check.hundred_a_batch(stream, streamer)

# %% [markdown] covers="A015 B109 D042 D005"
# ### What a few milliseconds buy
#
# And if the source is as fast as it can be? Four producers send small records to a partition each, 8,000 at a time (without lingering 2,000, which take longer), and take turns, so a busy moment of the machine hits all alike. They differ in `linger.ms` only. The speed is that of the median turn; how many records a batch has, the log's own files say.

# %%
from threebrokers.lab.scenarios import by_linger, line_chart

lingering = by_linger(lab, [0, 5, 20, 100])
for column in lingering:
    one_line = lingering[[column]].set_axis(["a producer each"], axis=1)
    line_chart(one_line, f"{column.capitalize()}, by the time that a batch waits (ms)", column)
more = lingering / lingering.loc[0]  # times as many as with linger.ms=0
lab.observed("Five ms made batches larger, and the sending faster", (more.loc[5] > 1.5).all())
more.round(1).add_prefix("times as many ")

# %% [markdown]
# The steps of the axis are equally far apart; the times are not. **What to see:** the jump from 0 to 5 ms is the one that counts. After it the speed goes up and down with the machine, and only the batches go on growing, until one holds all 8,000. A leader has work with each request, so a few records in each are slow. When a batch has some hundreds, that work is small, and larger batches save little: what they cost is the time that a record waits when the source is slow (exercise 5.5).

# %% [markdown] covers="B158 B078 A052 D032 D036 C014" explains="serializer, SerializingProducer"
# ### Objects into bytes
#
# A **serializer** makes bytes of a key or a value. Java's producer must be told two classes (`key.serializer`, `value.serializer`), because key and value may differ: a number as eight bytes, and JSON. With `bootstrap.servers` these are the three settings that Java needs; here only the addresses are needed. This client takes bytes or text, so a serializer is a function that you call. (`SerializingProducer` calls it for you, and turns what it raises into a `ValueSerializationError`.) `struct.pack(">q", number)` is what Java's `LongSerializer` does.
#
# A wrong value must fail *here*: in the topic it would meet every reader.

# %% [markdown]
# ### Exercise 5.6: A serializer that refuses
#
# A `StockPrice` has `symbol`, `dollars` and `cents`. Write `serialize(price)`: it returns JSON in UTF-8 with these three names. `symbol` is a text that is not empty, `dollars` a whole number from 0, `cents` a whole number from 0 to 99. Otherwise it raises a `ValueError` whose text names the field.

# %%
import json

from threebrokers.lab.scenarios import StockPrice, send_quotes

one_price = StockPrice("IBM", 141, 5)  # for a try of your own: serialize(one_price)


# TODO: write the function `serialize`
# BEGIN SOLUTION
def serialize(price):
    if not (isinstance(price.symbol, str) and price.symbol):
        raise ValueError(f"symbol is {price.symbol!r}")
    for name, most in [("dollars", float("inf")), ("cents", 99)]:
        number = getattr(price, name)
        if not (type(number) is int and 0 <= number <= most):
            raise ValueError(f"{name} is {number!r}")
    return json.dumps(vars(price)).encode()


# END SOLUTION


send_quotes(lab, serialize)  # eleven prices, seven of them wrong

# %% [markdown]
# <details><summary>Hint</summary>
#
# What can be wrong with each field: its type, its range, or that it is missing? What happens if you compare a text with a number before you know which it is?
#
# </details>
# <details><summary>Another hint</summary>
#
# `type(x) is int` (with `isinstance`, `True` is a whole number, too), a comparison such as `0 <= x <= 99`, and `raise ValueError("cents …")`. `vars(price)` is a dictionary of the fields, `json.dumps` makes a text of it, and `.encode()` bytes in UTF-8.
#
# </details>

# %% tags=["wrong"]
# pickle | is a pickle
import pickle


def serialize(price):
    return pickle.dumps(price)


# %% tags=["wrong"]
# str() | is no JSON in UTF-8
def serialize(price):
    return str(price).encode()


# %% tags=["wrong"]
# a text | which .encode() makes of a text
def serialize(price):
    return json.dumps(vars(price))


# %% tags=["wrong"]
# dollars as a number with a point | the names and types of its fields
def serialize(price):
    if not (isinstance(price.symbol, str) and price.symbol and type(price.cents) is int):
        raise ValueError("symbol or cents")
    return json.dumps({**vars(price), "dollars": float(price.dollars)}).encode()


# %% tags=["wrong"]
# sends everything | cents=120))` returned b
def serialize(price):
    return json.dumps(vars(price)).encode()


# %% tags=["wrong"]
# swallows | returned None
def serialize(price):
    try:
        if price.symbol and price.dollars >= 0 and 0 <= price.cents <= 99:
            return json.dumps(vars(price)).encode()
    except TypeError:
        pass


# %% tags=["wrong"]
# compares before it looks at the type | ended with TypeError; it should raise a ValueError that names the field dollars
def serialize(price):
    for name, value, most in [("dollars", price.dollars, 1e9), ("cents", price.cents, 99)]:
        if not 0 <= value <= most:
            raise ValueError(name)
    if not price.symbol:
        raise ValueError("symbol")
    return json.dumps(vars(price)).encode()


# %% tags=["wrong"]
# allows a hundred cents | dollars=141, cents=100))` returned
def serialize(price):
    for name, kind, most in [("symbol", str, ""), ("dollars", int, 10**9), ("cents", int, 100)]:
        value = getattr(price, name)
        if not isinstance(value, kind) or (kind is int and not 0 <= value <= most) or value == "":
            raise ValueError(name)
    return json.dumps(vars(price)).encode()


# %% tags=["wrong"]
# takes True for a number | dollars=True, cents=5))` returned
def serialize(price):
    for name, kind, most in [("symbol", str, ""), ("dollars", int, 10**9), ("cents", int, 99)]:
        value = getattr(price, name)
        if not isinstance(value, kind) or (kind is int and not 0 <= value <= most) or value == "":
            raise ValueError(name)
    return json.dumps(vars(price)).encode()


# %% tags=["wrong"]
# does not say which field | it should name the field that is wrong, cents
def serialize(price):
    good = isinstance(price.cents, int) and isinstance(price.dollars, int) and isinstance(price.symbol, str)
    if not (good and price.symbol and price.dollars >= 0 and 0 <= price.cents <= 99):
        raise ValueError("a bad price")
    return json.dumps(vars(price)).encode()


# %% tags=["wrong"]
# one text that shows every field | the ValueError says the same of wrong
def serialize(price):
    fields, cents = json.dumps(vars(price)), price.cents
    good = type(cents) is int and type(price.dollars) is int and isinstance(price.symbol, str)
    if not (good and price.symbol and price.dollars >= 0 and 0 <= cents <= 99):
        raise ValueError(f"a bad price: {fields}")
    return fields.encode()


# %% tags=["right"]
# one rule for each field, letters as they are
RULES = {
    "symbol": lambda x: isinstance(x, str) and x != "",
    "dollars": lambda x: type(x) is int and x >= 0,
    "cents": lambda x: type(x) is int and x in range(100),
}


def serialize(price):
    for name, is_good in RULES.items():
        if not is_good(getattr(price, name)):
            raise ValueError(f"the field {name} must not be {getattr(price, name)!r}")
    fields = {name: getattr(price, name) for name in RULES}
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


# %% tags=["nbval-check-output"]
lab.check.bad_prices_refused(serialize)

# %% [markdown] covers="A116 B166" explains="interceptor, interceptor.classes"
# ### See every record that passes
#
# Java's clients have **interceptors** (`interceptor.classes`): a class that sees each record before it is sent (`onSend`), and each acknowledgement (`onAcknowledgement`). Whole companies trace and count their records so, and no program is changed. This client has none; a class around the producer does the same. (The ledger of this course is such a one.)

# %% [markdown]
# ### Exercise 5.7: An interceptor in Python
#
# Write a class `Traced`. `Traced(producer).produce(topic, value, key=…, headers=…, on_delivery=…)` sends as the producer does, without waiting, and besides:
#
# - it adds a header `trace-id`, with an id that no other record has; the program's own headers (a list of pairs, or none) stay, and its list is not changed;
# - `acknowledged` counts its records that a broker has acknowledged; the program's own callback, if it gave one, hears its reports too.

# %%
from uuid import uuid4


# TODO: write the class `Traced`
# BEGIN SOLUTION
class Traced:
    def __init__(self, producer):
        self.producer, self.acknowledged = producer, 0

    def produce(self, topic, value=None, key=None, headers=None, on_delivery=None):
        def report(error, message):
            self.acknowledged += error is None
            if on_delivery:
                on_delivery(error, message)

        headers = [*(headers or []), ("trace-id", uuid4().bytes)]
        self.producer.produce(topic, value, key, headers=headers, on_delivery=report)


# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# When do you know that a record was acknowledged: when `produce()` returns, or later? And who else waits for the same report?
#
# </details>
# <details><summary>Another hint</summary>
#
# Give the producer a function of your own as `on_delivery`. It counts if `error` is None, and then calls the program's function, if there is one. `uuid4().bytes` is a new id each time. A header is a pair of a name and bytes.
#
# </details>


# %% tags=["wrong"]
# the id in the value | another value than the order
class Traced:
    def __init__(self, producer):
        self.producer, self.acknowledged = producer, 0

    def produce(self, topic, value=None, key=None, headers=None, on_delivery=None):
        def report(error, message):
            self.acknowledged += error is None
            on_delivery and on_delivery(error, message)

        self.producer.produce(topic, uuid4().bytes + value, key, headers=headers, on_delivery=report)


# %% tags=["wrong"]
# counts what is sent | when no reports had come
class Traced:
    def __init__(self, producer):
        self.producer, self.acknowledged = producer, 0

    def produce(self, topic, value=None, key=None, headers=None, **more):
        headers = [*(headers or []), ("trace-id", uuid4().bytes)]
        self.producer.produce(topic, value, key, headers=headers, **more)
        self.acknowledged += 1


# %% tags=["wrong"]
# counts errors too | `traced.acknowledged` is 35
class Traced:
    def __init__(self, producer):
        self.producer, self.acknowledged = producer, 0

    def produce(self, topic, value=None, key=None, headers=None, on_delivery=None):
        def report(error, message):
            self.acknowledged += 1
            on_delivery and on_delivery(error, message)

        headers = [*(headers or []), ("trace-id", uuid4().bytes)]
        self.producer.produce(topic, value, key, headers=headers, on_delivery=report)


# %% tags=["wrong"]
# takes the program's reports away | own callback heard of 0 of 31
class Traced:
    def __init__(self, producer):
        self.producer, self.acknowledged = producer, 0

    def produce(self, topic, value=None, key=None, headers=None, on_delivery=None):
        def report(error, message):
            self.acknowledged += error is None

        headers = [*(headers or []), ("trace-id", uuid4().bytes)]
        self.producer.produce(topic, value, key, headers=headers, on_delivery=report)


# %% tags=["wrong"]
# one id for all | 34 records share 1 trace id;
class Traced:
    def __init__(self, producer):
        self.producer, self.acknowledged, self.id = producer, 0, uuid4().bytes

    def produce(self, topic, value=None, key=None, headers=None, on_delivery=None):
        def report(error, message):
            self.acknowledged += error is None
            on_delivery and on_delivery(error, message)

        headers = [*(headers or []), ("trace-id", self.id)]
        self.producer.produce(topic, value, key, headers=headers, on_delivery=report)


# %% tags=["wrong"]
# counts from 1 for each producer | a second `Traced(producer)` gives its record the trace id
class Traced:
    def __init__(self, producer):
        self.producer, self.acknowledged, self.sent = producer, 0, 0

    def produce(self, topic, value=None, key=None, headers=None, on_delivery=None):
        def report(error, message):
            self.acknowledged += error is None
            on_delivery and on_delivery(error, message)

        self.sent += 1
        headers = [*(headers or []), ("trace-id", str(self.sent))]
        self.producer.produce(topic, value, key, headers=headers, on_delivery=report)


# %% tags=["wrong"]
# its header in place of the program's | the program's own headers are gone
class Traced:
    def __init__(self, producer):
        self.producer, self.acknowledged = producer, 0

    def produce(self, topic, value=None, key=None, headers=None, on_delivery=None):
        def report(error, message):
            self.acknowledged += error is None
            on_delivery and on_delivery(error, message)

        self.producer.produce(topic, value, key, headers={"trace-id": uuid4().bytes}, on_delivery=report)


# %% tags=["wrong"]
# another name for the header | have no header 'trace-id', but
class Traced:
    def __init__(self, producer):
        self.producer, self.acknowledged = producer, 0

    def produce(self, topic, value=None, key=None, headers=None, on_delivery=None):
        def report(error, message):
            self.acknowledged += error is None
            on_delivery and on_delivery(error, message)

        headers = [*(headers or []), ("trace_id", uuid4().bytes)]
        self.producer.produce(topic, value, key, headers=headers, on_delivery=report)


# %% tags=["wrong"]
# adds to the program's own list | own list of headers has 31 pairs now
class Traced:
    def __init__(self, producer):
        self.producer, self.acknowledged = producer, 0

    def produce(self, topic, value=None, key=None, headers=None, on_delivery=None):
        def report(error, message):
            self.acknowledged += error is None
            on_delivery and on_delivery(error, message)

        headers = headers or []
        headers.append(("trace-id", uuid4().bytes))
        self.producer.produce(topic, value, key, headers=headers, on_delivery=report)


# %% tags=["wrong"]
# a callback with one argument | ended in an error: a delivery callback is called with two arguments
class Traced:
    def __init__(self, producer):
        self.producer, self.acknowledged = producer, 0

    def produce(self, topic, value=None, key=None, headers=None, on_delivery=None):
        headers = [*(headers or []), ("trace-id", uuid4().bytes)]
        self.producer.produce(topic, value, key, headers=headers, on_delivery=lambda message: None)


# %% tags=["wrong"]
# one place for the callbacks of all records | heard of b'
class Traced:
    def __init__(self, producer):
        self.producer, self.acknowledged, self.callback = producer, 0, None

    def report(self, error, message):
        self.acknowledged += error is None
        self.callback and self.callback(error, message)

    def produce(self, topic, value=None, key=None, headers=None, on_delivery=None):
        self.callback = on_delivery
        headers = [*(headers or []), ("trace-id", uuid4().bytes)]
        self.producer.produce(topic, value, key, headers=headers, on_delivery=self.report)


# %% tags=["wrong"]
# tells the program at once | calls the program's own callback with (None, None)
class Traced:
    def __init__(self, producer):
        self.producer, self.acknowledged = producer, 0

    def produce(self, topic, value=None, key=None, headers=None, on_delivery=None):
        def report(error, message):
            self.acknowledged += error is None

        headers = [*(headers or []), ("trace-id", uuid4().bytes)]
        self.producer.produce(topic, value, key, headers=headers, on_delivery=report)
        if on_delivery:
            on_delivery(None, None)


# %% tags=["wrong"]
# does not ask whether there is a callback | Look at: what it calls if the program has given no callback
class Traced:
    def __init__(self, producer):
        self.producer, self.acknowledged = producer, 0

    def produce(self, topic, value=None, key=None, headers=None, on_delivery=None):
        def report(error, message):
            self.acknowledged += error is None
            on_delivery(error, message)

        headers = [*(headers or []), ("trace-id", uuid4().bytes)]
        self.producer.produce(topic, value, key, headers=headers, on_delivery=report)


# %% tags=["right"]
# everything else is the producer's
class Traced:
    def __init__(self, producer):
        self._producer = producer
        self.acknowledged = 0

    def __getattr__(self, name):
        return getattr(self._producer, name)

    def produce(self, *arguments, headers=(), on_delivery=lambda error, message: None, **more):
        def report(error, message):
            if not error:
                self.acknowledged += 1
            on_delivery(error, message)

        pairs = [*headers, ("trace-id", str(uuid4()))]
        self._producer.produce(*arguments, headers=pairs, on_delivery=report, **more)


# %% tags=["nbval-check-output"]
lab.check.every_record_traced(Traced)

# %% [markdown]
# The same place is good for an alarm: count all reports, and those with an error by `error.name()`. A few errors are usual; what should wake somebody is their share.

# %% [markdown] covers="A114" explains="deserializer"
# ### And back
#
# Who reads needs the opposite of a serializer, a **deserializer**: it makes a key or a value of bytes. Both have one rule more: *nothing* stays nothing. A key that is not there must not become the text `None`, which would be a key like any other. And a value of `None` says in a compacted topic that its key is deleted (lab 09).

# %% [markdown]
# ### Exercise 5.8: The way back
#
# Alerts have a stage of the factory as their key, and `stage_to_bytes` has made it. Write `stage_from_bytes(data)`: it gets the bytes of a key, or None, and returns what `stage_to_bytes` was given. Bytes that are no UTF-8 come from somebody else: there it raises a `ValueError`.

# %%
from threebrokers.kafka.log_reader import read_log


def stage_to_bytes(stage):
    return None if stage is None else stage.encode()


# TODO: write the function `stage_from_bytes`
# BEGIN SOLUTION
def stage_from_bytes(data):
    return None if data is None else data.decode()


# END SOLUTION

stages, factory = lab.fresh_topic("stages"), lab.producer()
for stage in ("welding", "Prüfung", "质检", "", None):
    factory.produce(stages, "look at it", key=stage_to_bytes(stage))
factory.flush()
keys = [record.key for record in read_log(lab.bootstrap, stages)]
[(key, stage_from_bytes(key) if callable(stage_from_bytes) else "…") for key in keys]

# %% [markdown]
# <details><summary>Hint</summary>
#
# `"…".encode()` made the bytes. What is its opposite called? And which of the five keys has no such method?
#
# </details>
# <details><summary>Another hint</summary>
#
# `data.decode()` reads UTF-8, and raises a `UnicodeDecodeError`, which is a `ValueError`, where it cannot. `if data` is false for None, and for empty bytes too.
#
# </details>


# %% tags=["wrong"]
# what Python shows of bytes | how Python shows bytes
def stage_from_bytes(data):
    return str(data)


# %% tags=["wrong", "raises-exception"]
# forgets alerts without a stage | AttributeError: 'NoneType' object has no attribute 'decode'
def stage_from_bytes(data):
    return data.decode()


# %% tags=["wrong"]
# makes a key of none | `stage_from_bytes(None)` returned ''
def stage_from_bytes(data):
    return (data or b"").decode()


# %% tags=["wrong"]
# takes an empty stage for none | an empty text is a stage
def stage_from_bytes(data):
    return data.decode() if data else None


# %% tags=["wrong"]
# another code | the bytes are UTF-8
def stage_from_bytes(data):
    return None if data is None else data.decode("latin-1")


# %% tags=["wrong"]
# guesses what it cannot read | a stage that nobody has written
def stage_from_bytes(data):
    return None if data is None else data.decode(errors="replace")


# %% tags=["wrong"]
# knows only the five of the cell | a stage can have any name
STAGES = {b"welding": "welding", "Prüfung".encode(): "Prüfung", "质检".encode(): "质检", b"": "", None: None}


def stage_from_bytes(data):
    if data not in STAGES:
        raise ValueError(f"{data!r} is no stage")
    return STAGES[data]


# %% tags=["wrong"]
# returns the error | returned an error (ValueError) as if it were a stage
def stage_from_bytes(data):
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError:
        return ValueError("no UTF-8")


# %% tags=["wrong"]
# hides the error | returned None, as for an alert without a stage
def stage_from_bytes(data):
    try:
        return data.decode()
    except Exception:
        return None


# %% tags=["wrong"]
# leaves the bytes | which .decode() makes of bytes
def stage_from_bytes(data):
    return data


# %% tags=["right"]
# a text of bytes, with an error of its own
def stage_from_bytes(data):
    if data is None:
        return None
    try:
        return str(data, "utf-8")
    except UnicodeDecodeError as fault:
        raise ValueError(f"{data!r} is no stage") from fault


# %% tags=["nbval-check-output"]
lab.check.stages_read(stage_from_bytes)

# %% [markdown] covers="B076 B080 D117 B173"
# ### The first record is slow
#
# A topic of 13 partitions gets thirty greetings, with the time as key, as in a course of 2017. There the first record took 139 ms, and the next four took 2 ms together.

# %%
import time

import pandas as pd

greetings = lab.fresh_topic("first", partitions=13, replication_factor=3)
greeter = lab.producer({"linger.ms": 0, "client.id": "KafkaExampleProducer"})
rows = []
for number in range(30):
    start = time.perf_counter()
    greeter.produce(
        greetings,
        f"Hello Mom {number}",
        str(time.time_ns()),
        on_delivery=lambda error, m: rows.append([m.partition(), m.offset()]),
    )
    greeter.flush()
    rows[-1].append((time.perf_counter() - start) * 1000)
usual = pd.Series([row[2] for row in rows[1:]]).quantile(0.25)  # a busy machine makes many of them slower
lab.observed("The first record took longer than is usual for the others", rows[0][2] > usual)
pd.DataFrame(rows[:6], columns=["partition", "offset", "ms"]).round(1)

# %% [markdown] explains="partitionsFor"
# The first record waits until the client has connected and asked for metadata: which partitions there are, and who leads them. (One of the next may be slow too, or slower: it needs a connection to another leader.) Metadata are asked for again after an error, and every five minutes: `topic.metadata.refresh.interval.ms`; Java: `metadata.max.age.ms`. `producer.list_topics(topic)` shows them to a program, as `partitionsFor` does in Java. A partitioner of your own may need their number.

# %% [markdown] covers="E038 B083 B082 B167 B169"
# ### Callbacks run in your thread
#
# Java's callbacks run in the thread that sends, so a slow one stops everything. Here they run inside `poll()` and `flush()`, in the thread that calls these. What does a callback of 1 ms cost? And do reports of a partition come in the order of its offsets, as Java's documentation says?

# %%
import time

from threebrokers.lab.scenarios import bar_chart as bars

reported = lab.fresh_topic("first", partitions=3, replication_factor=3)
offsets = {}


def quick(error, message):
    offsets.setdefault(message.partition(), []).append(message.offset())


def slow(error, message):
    quick(error, message)
    end = time.perf_counter() + 0.001
    while time.perf_counter() < end:
        pass


# %%
took = {}
for name, callback in [("quick", quick), ("1 ms of work", slow)]:
    caller = lab.producer({"enable.idempotence": True, "on_delivery": callback})
    caller.produce(reported, "first", "0")
    caller.flush(25)  # so it is connected, and has its id, before the clock starts
    start = time.perf_counter()
    for number in range(500):
        caller.produce(reported, f"{number}", str(number))
    left = caller.flush(25)
    took[name] = time.perf_counter() - start
bars(took, "500 records and their reports", "seconds")
in_order = all(found == sorted(found) for found in offsets.values())
lab.observed("The reports of each partition came in the order of its offsets", in_order)
lab.observed("500 callbacks of 1 ms took the program half a second or more", took["1 ms of work"] > 0.5)

# %% [markdown]
# 500 times 1 ms are half a second, and all of it is your program's time. Meanwhile the client's own threads send what it holds already, but nothing new is given to it. Let a callback note what it must, and do the work elsewhere.

# %% [markdown] covers="C017 D044 D045 D046 C015 D039 B160 E039 A104" explains="max.in.flight.requests.per.connection, request.timeout.ms, retry.backoff.ms"
# ### The same settings in Java
#
# | this client | Java | what it does |
# |---|---|---|
# | `acks`: all | the same | who must have a record |
# | `enable.idempotence`: `false` | `true` | no record twice, none out of order, after a request is sent again |
# | `max.in.flight.requests.per.connection`: 1,000,000; 5 if idempotent | 5 | requests that may wait for an answer at once |
# | `message.timeout.ms`, or by its other name `delivery.timeout.ms`: 5 min | `delivery.timeout.ms`: 2 min | how long a record is tried in all |
# | `request.timeout.ms`: 30 s; `socket.timeout.ms`: 60 s | `request.timeout.ms`: 30 s | how long the leader waits for its followers; how long the client waits for the leader (in Java one setting for both) |
# | `retries`: 2,147,483,647 | the same | tries; the time above ends them sooner |
# | `retry.backoff.ms`: 100, doubled up to 1,000 | the same | the pause between two |
# | `queue.buffering.max.messages`: 100,000; `queue.buffering.max.kbytes`: 1 GB | `buffer.memory`: 32 MB | what may wait; then `BufferError`, in Java `send()` waits |
# | (none: `produce()` never waits) | `max.block.ms`: 60 s | how long `send()` waits for memory or metadata |
# | `batch.size`: 1,000,000 | 16,384 | bytes of a batch |
#
# Old books name more: `block.on.buffer.full`, `timeout.ms` and `metadata.fetch.timeout.ms` are gone. This client refuses a name that does not exist; Java's takes it, and only a line in its log tells. Java has 113 settings; these ten do most.

# %% [markdown]
# ### Who overtakes whom
#
# A topic wants three replicas in sync, and one broker is away, so the leader refuses every request, with an error that may pass; the producer sends it again and again. Then, for a moment, the topic is content with two replicas. This happens twenty times, so that some of these moments meet requests on their way. Two producers, one after the other, send 500 records each, one a batch. (This takes 5 to 20 s.)

# %%
import pandas as pd

from threebrokers.lab.scenarios import refused_for_a_while

lab.cluster.stop(3)
arrived = {on: refused_for_a_while(lab, {"enable.idempotence": on}, times=20) for on in (False, True)}
lab.cluster.recover()
by_setting = {f"enable.idempotence={on}": [a.stored, a.overtaken] for on, a in arrived.items()}
lab.observed(
    "Only without idempotence were records overtaken", arrived[False].overtaken > 0 == arrived[True].overtaken
)
pd.DataFrame.from_dict(by_setting, orient="index", columns=["stored", "overtaken by a later one"])

# %% [markdown] covers="A101 E045 A124 B161"
# Without idempotence, what was on its way behind a refused request was taken. The refused one came again, and stands behind it. Books of before 2017 prevent that with one request at a time (`max.in.flight.requests.per.connection=1`) and few `retries`. Both are out of date: few retries only lose records. `enable.idempotence` keeps the order with five requests on their way, because the leader takes only the number that follows.
#
# One gap is left: the leader has to know the producer. From a new one it takes any number. If just its first record is refused, and the next one taken, this client believes that both are stored, and reports so; `message.offset()` is `None` then. [docs/guarantees.md](../docs/guarantees.md#requests-are-refused-for-a-moment) has measured it. One record that is stored before the others closes the gap.

# %% [markdown] covers="B162 E042"
# ### Tried again
#
# A topic has three replicas and asks for all three (`min.insync.replicas=3`), and one broker is away for some seconds. A leader that has too few followers refuses, and says that it may pass. Four producers send one record each; the pause between two tries is 250 ms at first. (This takes 10 to 25 s.)

# %%
import time

import pandas as pd

picky = lab.fresh_topic("first", replication_factor=3, config={"min.insync.replicas": "3"})
cases = {
    "retries=0": {"retries": 0},
    "retries=2": {"retries": 2},
    "3 s in all": {"message.timeout.ms": 3000},
    "as it is": {},
}
ends, start = {}, 0.0


def ending(name):
    return lambda e, m: ends.update({name: [time.perf_counter() - start, e.name() if e else "stored"]})


# %%
lab.cluster.stop(3)
lab.wait_until(lambda: len(lab.cluster.state([picky]).topic(picky).partitions[0].isr) < 3, what="two")
start = time.perf_counter()
senders = {}
for name, own in cases.items():
    settings = {"linger.ms": 0, "retry.backoff.ms": 250, **own, "on_delivery": ending(name)}
    senders[name] = lab.producer(settings)
    senders[name].produce(picky, "a record")
for name in ("retries=0", "retries=2", "3 s in all"):
    senders[name].flush(20)
lab.cluster.recover()
senders["as it is"].flush(20)
lab.observed("Only the one with time and retries has its record stored", ends["as it is"][1] == "stored")
pd.DataFrame.from_dict(ends, orient="index", columns=["reported after (s)", "the report"]).round(1)

# %% [markdown]
# With few retries a program is told soon, and told what the fault is. With only a time it is told at the end of that time, and not why: the report is a time-out. In both cases the record is not stored. With the defaults the client tried until the broker was back, and the program never noticed. So do not lower `retries`; say with `message.timeout.ms` how long a record may be tried.

# %% [markdown] covers="E043"
# ### A time for each try
#
# An answer may also not come at all. `socket.timeout.ms` is how long this client waits for one (Java: `request.timeout.ms`), and `message.timeout.ms` is the time for all tries together. Here the leader is paused, and then gets a record. `Log` prints what the client notes about time:

# %%
from threebrokers.kafka.log_reader import read_log
from threebrokers.lab.scenarios import controller_last


class Log:
    def log(self, level, text, *parts):
        if "in flight" in text % parts:
            print("log:", (text % parts).split(": ")[-1])


paused = lab.fresh_topic("first", brokers=controller_last(lab)[:1])
leader = lab.cluster.state([paused]).topic(paused).partitions[0].leader
times = {"socket.timeout.ms": 500, "message.timeout.ms": 2500, "linger.ms": 0}
asking = lab.producer({**times, "logger": Log(), "on_delivery": lambda e, m: print(m.value(), e or "stored")})
asking.produce(paused, "the first one")
asking.flush()
lab.cluster.pause(leader)
asking.produce(paused, "is anybody there?")
asking.flush()
lab.cluster.resume(leader)
lab.wait_until(lambda: len(read_log(lab.bootstrap, paused)) > 1, what="both records")
print("in the topic:", *[record.value for record in read_log(lab.bootstrap, paused)])

# %% [markdown]
# The client waited a second for an answer (it looks once a second, so 500 ms become one), connected again, and waited for a first sign of the broker: its answer to `ApiVersionRequest`. After 2.5 s in all the record had no time left: `_MSG_TIMED_OUT`. And it is in the topic: its request lay in the connection, and the leader did it when it went on. So *timed out* does not mean *not stored*.

# %% [markdown] covers="A023 E030 E216 D047" explains="message.max.bytes, max.message.bytes, max.request.size"
# ### How large may a record be?
#
# Three places have a bound of about 1 MB: `message.max.bytes` of this client (1,000,000; Java: `max.request.size`, 1,048,576), `message.max.bytes` of the brokers and `max.message.bytes` of the topic (1,048,588). The leader compares the *batch*, as it is packed, not the record. Here is a topic that allows 20,000 bytes, and 100 records of 1,000 bytes.

# %%
import pandas as pd

tight = lab.fresh_topic("inspected", config={"max.message.bytes": "20000"})
cases = {
    "one batch": {"linger.ms": 500},
    "batches of 15,000 bytes": {"linger.ms": 500, "batch.size": 15_000},
    "one batch, zstd": {"linger.ms": 500, "compression.type": "zstd"},
}
results = []
for name, settings in cases.items():
    fitting = lab.producer(settings)
    for _ in range(100):
        fitting.produce(
            tight,
            b"x" * 1000,
            on_delivery=lambda e, m, n=name: results.append([n, e.name() if e else "stored"]),
        )
    fitting.flush()
pd.DataFrame(results, columns=["how", "what became of it"]).value_counts().rename("records").reset_index()

# %% [markdown]
# A batch that is too large is refused whole. Java's client then divides it and sends the parts; this one does not.
#
# Large records fill the memory of clients and brokers, and hold up what is behind them. Better: compress, divide, or keep the large thing elsewhere and send its address.

# %% [markdown] covers="A118 D054 E048 B163 E049 D056" explains="sticky, sticky.partitioning.linger.ms"
# ### Without a key
#
# A record without a key may go anywhere. Clients used to take another partition for each record, in turn or at random, which makes small batches everywhere. Today they are **sticky**: this client stays with a partition for 10 ms (`sticky.partitioning.linger.ms`), Java until a batch is full, and prefers leaders that answer quickly. Here are 3,000 readings within 0.3 s: how long are the runs for one partition?

# %%
from itertools import groupby

from threebrokers.lab.scenarios import readings

keyless, order = lab.fresh_topic("first", partitions=12, replication_factor=3), []
sticky = lab.producer({"on_delivery": lambda error, m: order.append((int(m.value()), m.partition()))})
sticky.produce(keyless, "-1")
sticky.flush()  # now it knows the leaders
for number, _ in enumerate(readings(seconds=0.3, rate=10_000)):
    sticky.produce(keyless, str(number))
sticky.flush()
runs = [len(list(run)) for _, run in groupby(partition for _, partition in sorted(order))]
print(f"{len(runs)} runs, {sum(runs) / len(runs):.0f} records on average, the longest has {max(runs)}")
lab.observed("Runs are longer than one record", sum(runs) / len(runs) > 5)

# %% [markdown] covers="E050"
# With a key, the hash decides: CRC32 here, murmur2 in Java, unless `partitioner` is `murmur2_random` (lab 02). And if one customer has 90 % of all orders?

# %%
from collections import Counter

from threebrokers.lab.scenarios import bar_chart as bars

hot, orders_in = lab.fresh_topic("first", partitions=6, replication_factor=3), Counter()
skewed = lab.producer({"on_delivery": lambda error, m: orders_in.update([m.partition()])})
for number in range(1000):
    skewed.produce(hot, str(number), "the big customer" if number % 10 else f"customer {number}")
skewed.flush()
shares = {f"partition {partition}": orders_in[partition] for partition in range(6)}
bars(shares, "1,000 orders, 900 of one customer", "orders")
lab.observed("One partition has nine of ten orders", max(shares.values()) >= 900)

# %% [markdown]
# One bar has nearly all: its leader has nine tenths of the work, and so has the one consumer that reads it, and more partitions change nothing. If readers do not need the order of a key, Java can ignore it (`partitioner.ignore.keys`, or `RoundRobinPartitioner`; `UniformStickyPartitioner` is gone since 4.0). Here, pass a `partition`. If they need it, give the customer several keys: one for each of its shops.

# %% [markdown] covers="B112 E209"
# ### Who compresses?
#
# A topic's `compression.type` is `producer` unless told otherwise: batches are kept as they come. If it names another codec than a batch has, the leader unpacks that batch and packs it anew.

# %%
import pandas as pd

from threebrokers.data import flight_messages
from threebrokers.lab.scenarios import bytes_stored, stored_batches

rows = []
for setting in ("producer", "zstd", "uncompressed"):
    repacked = lab.fresh_topic("repacked", config={"compression.type": setting})
    press = lab.producer({"compression.type": "lz4", "linger.ms": 500})
    for key, value in flight_messages(month=1)[:1000]:
        press.produce(repacked, value, key)
    press.flush()
    largest = max(stored_batches(lab, repacked), key=lambda batch: batch.records)
    rows.append([setting, largest.codec, bytes_stored(lab, repacked)])
lab.observed(
    "The leader packed again where the topic says so", [r[1] for r in rows] == ["lz4", "zstd", "none"]
)
pd.DataFrame(rows, columns=["the topic says", "stored as", "bytes"])

# %% [markdown]
# ### A producer that is only dropped
#
# This program has no `with` block and forgets `flush()`. Its producer is confluent-kafka's own, because `lab.producer` gives each one a `logger`.

# %%
# %%program forgetful
from confluent_kafka import Producer

payer = Producer({"bootstrap.servers": lab.bootstrap, "linger.ms": 60_000})
payer.produce(lab.topic("wages"), "Dayo gets 100")
print("The program ends.")

# %% [markdown]
# The line with `TERMINATE` is all that is left of the record. librdkafka writes it to standard error, and with a `logger` it does not even do that: a program with many records in its producer loses them without a word.

# %% [markdown] covers="B171" explains="purge"
# ### An end that waits no longer than 10 s
#
# `close()` may wait for five minutes, and a service that is asked to end often has ten seconds. Then give `flush()` a time: it returns how many records still wait. `purge()` gives them up, and each of them gets a report, so the program can put them aside. This producer's broker does not answer:

# %%
wages, given_up = lab.fresh_topic("wages"), []
stuck = lab.producer(
    {"bootstrap.servers": "127.0.0.1:1", "on_delivery": lambda e, m: given_up.append((m.value(), e.name()))}
)
for name in ("Ada", "Bao", "Chika"):
    stuck.produce(wages, f"{name} gets 100")
print(stuck.flush(0.5), "records wait;", len(given_up), "have a report")
stuck.purge()
stuck.flush()
print(*given_up, sep="\n")
lab.observed("Each record that was given up has its report", len(given_up) == 3)

# %% [markdown] covers="B172"
# A program that sends the lines of a file writes down how far it is only when it has their reports.
#
# So an end has an order: nobody sends any more; `flush()` with a time; what is left is put aside. Two tills of this program sell until it is told to end, by Ctrl-C (`SIGINT`) or by what systemd and Kubernetes send (`SIGTERM`):

# %%
# %%program tills
import signal
import threading

over, seller = threading.Event(), lab.producer({"linger.ms": 60_000})
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, frame: over.set())


def sell(till):
    while not over.wait(0.1):
        seller.produce(lab.topic("wages"), f"a sale of till {till}")
        print("sold")


tills = [threading.Thread(target=sell, args=[till]) for till in (1, 2)]
for till in tills:
    till.start()
over.wait()
for till in tills:
    till.join()
print("not sent:", seller.flush(10))

# %%
from threebrokers.kafka.log_reader import read_log

shop = lab.program("tills", restart=True)
before = len(read_log(lab.bootstrap, wages))
lab.wait_until(lambda: shop.output.count("sold") >= 10, what="ten sales", within=30)
shop.interrupt()
shop.wait(within=20)
sold, arrived = shop.output.count("sold"), len(read_log(lab.bootstrap, wages)) - before
print(f"{sold} sales, {arrived} of them are in the topic")
lab.observed("Every sale before the end is in the topic", sold == arrived)

# %% [markdown] covers="E243 D015 B020 B005 B037" explains="kafka-producer-perf-test"
# ### How fast is one leader?
#
# Kafka's own measuring program, `kafka-producer-perf-test`, sends random bytes from Java, here 50,000 records of 1,000 bytes to one partition. (`kafka-consumer-perf-test` is its twin for reading.)

# %%
perf = lab.fresh_topic("perf")
sizes_asked = ["--num-records", "50000", "--record-size", "1000", "--throughput", "-1"]
report = lab.cluster.tool("kafka-producer-perf-test", "--topic", perf, *sizes_asked)
print(report.strip().splitlines()[-1])

# %% [markdown]
# Books speak of millions of records a second and of 700 MB/s into a file. Compare with your line, and with its cost: three brokers, this notebook and the program share the processors of one machine. The latency in it is long because nothing holds the program back: it fills its memory (32 MB) at once, and most of that time a record waits there for its turn. More partitions on more machines, and more producers, add up, because leaders do not wait for each other. Producers can be faster than consumers: then the log grows until retention deletes it.

# %% [markdown] covers="B021"
# One producer or four, and one partition or four: 8 MB each time, in records of 4,000 bytes and batches of at most 100 kB.

# %%
import time
from itertools import pairwise

import pandas as pd

from threebrokers.lab.scenarios import stored_batches


def megabytes_a_second(producers, partitions):
    into = lab.fresh_topic("perf", partitions=partitions, replication_factor=3)
    settings = {"enable.idempotence": True, "batch.size": 100_000}
    many = [lab.producer(settings) for _ in range(producers)]
    for one in many:  # so each is connected, and has its id, before the clock starts
        for partition in range(partitions):
            one.produce(into, b"first", partition=partition)
        one.flush(60)
    start = time.perf_counter()
    for number in range(2000):
        many[number % producers].produce(into, bytes(4000), partition=number // producers % partitions)
    left = sum(one.flush(60) for one in many)
    return (2000 - left) * 4000 / 1e6 / (time.perf_counter() - start)


# %%
speeds = {f"partitions: {n}": [megabytes_a_second(many, n) for many in (1, 4)] for n in (4, 1)}
writers = [batch.producer_id for batch in stored_batches(lab, lab.topic("perf"))]
turns = sum(one != next_one for one, next_one in pairwise(writers))
print(f"{len(set(writers))} producers, {len(writers)} batches, {turns} times one of another follows")
lab.observed("Batches of four producers stand between each other", len(set(writers)) == 4 and turns > 3)
pd.DataFrame(speeds, index=["1 producer", "4 producers"]).round(1).add_suffix(", MB a second")

# %% [markdown]
# Nobody waited for anybody: four producers wrote into one partition side by side, and its leader put their batches one behind the other. Compare the four speeds with care: on one machine all share processors and disks, so they say little about leaders that have a machine each.

# %% [markdown] covers="A099 D028" explains="statistics.interval.ms"
# ### What waits in the producer
#
# This client tells statistics of itself, as JSON: every `statistics.interval.ms` it calls a function of yours. Here is how many records wait in it, while 20,000 are sent.

# %%
import json

crowded, waiting = lab.fresh_topic("perf"), []
teller = {"statistics.interval.ms": 20, "stats_cb": lambda text: waiting.append(json.loads(text)["msg_cnt"])}
counted = lab.producer({**teller, "compression.type": "lz4"})
for _ in range(20_000):
    counted.produce(crowded, b"x" * 100)
while len(counted):
    counted.poll(0.02)
counted.flush()
print("records that wait:", *waiting[:12])

# %% [markdown]
# First they wait for a batch, then for the network, then for the leader's answer, and last for your `poll()`. The JSON has more: `tx` and `rtt` of each broker, `batchsize` of each topic, how long records waited. Java shows the same as metrics, under other names.

# %% [markdown] covers="A053 B149"
# ### One producer, many threads
#
# A producer can be shared by threads: they fill the same batches, and one queue has one bound. Each producer has threads and memory of its own, so one that is not closed keeps them. (`lab.producer` throws away the one that its cell made before.) Never use it after a `fork()`: the child has the memory and not the threads.

# %%
from concurrent.futures import ThreadPoolExecutor

from threebrokers.lab.scenarios import stored_batches

filled = lab.fresh_topic("perf")
shared = lab.producer({"enable.idempotence": True, "linger.ms": 50})
with ThreadPoolExecutor(10) as pool:
    for thread in range(10):
        pool.submit(lambda thread=thread: [shared.produce(filled, f"{thread} {n}") for n in range(100)])
shared.flush()
together = stored_batches(lab, filled)[-1]
print(f"ten threads with 100 records each: the last batch has {together.records} records")

# %% [markdown] covers="B085"
# ### Three questions more
#
# **One of three bootstrap addresses is down. What does a producer do?** It asks the next one, and learns of all brokers. It comes back to the list only when it reaches none of those (`metadata.recovery.strategy`: `rebootstrap`).
#
# **Why are there two serializers?** Key and value can be different things: a number, and an object.
#
# **What is a callback good for?** It is the only place where a program learns what became of a record without standing still.

# %% [markdown]
# Compare with the [solution](../solutions/05_producers.ipynb). Next lab: [What have I read?](06_consumers.ipynb)
