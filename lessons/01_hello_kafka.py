# %% [markdown]
# # Where did my message go?
#
# **You will** create a topic, find out where each message that you send is stored, and read the messages as often as you like.
#
# *30 minutes. Run the cells from top to bottom with Shift+Enter. To begin again, run from the first cell; an exercise can be tried again at any time.*

# %%
from threebrokers import open_lab

lab = open_lab("01")

# %% [markdown] covers="A002 D001 E001 D018 D022 D023"
# ## A message is sent to a name
#
# A program that has something to tell sends a message, which Kafka calls a **record**: from here on we say record. It does not send it to another program. It sends it to a **topic**, which is a name, such as `orders`. Other programs read that topic, now or later. The sender does not know them and does not wait for them, and a topic that nobody reads is fine too. This is called *publish and subscribe*.
#
# The sender is a **producer**, the reader is a **consumer**. Between them stand servers, the **brokers**. Here there are three, and together they are a **cluster**. A broker stores each record on its disk. Reading does not remove it. So Kafka has three uses: it passes records on, it keeps them, and other programs compute with them while they arrive.
#
# Two examples. A company's web pages and its phone app send every click of a user to one topic; the reports and the search read it, as in the picture. Or: many programs send their messages for customers to one topic, and one program reads it, writes the e-mails, and leaves out what a customer does not want.

# %%
from threebrokers.diagrams import log_picture, message_path, topic_picture

message_path(producers=("web pages", "phone app"), consumers=("reports", "search"))

# %% [markdown] covers="A034 E020"
# ## A topic is made of partitions
#
# The picture shows more than a name. A topic is divided into **partitions**. A partition is a list of records: each new record is added at the end and gets the next number, its **offset**: 0, 1, 2, and so on. So a record has a place that never changes: topic, partition, offset.
#
# A partition can be kept on several brokers; each of them has a **replica** of it. One replica is the **leader**. Producers write to the leader and consumers read from it; the others are **followers**, which take every record from the leader. A replica that has them all is **in sync**.
#
# The next cell makes a topic with three partitions and three replicas of each. We do this first, because on these brokers a topic must exist before you can use it. Kafka's own default is different: there, a topic that somebody writes to or asks for is created if it does not exist, so a spelling mistake becomes a new topic. The setting is `auto.create.topics.enable`; here it is off.

# %%
hello = lab.fresh_topic("hello", partitions=3, replication_factor=3)
topic_picture(lab.cluster.state().topic(hello))

# %% [markdown] covers="A027 A028"
# ### Exercise 1.1: Create the topic
#
# `lab.fresh_topic` is a helper of this course. Now use Kafka's own way: the admin client. Create the topic `helloworld` with three partitions and three replicas of each.
#
# A topic's name may have letters, digits, `.`, `_` and `-`, and no spaces. Do not mix `.` and `_`: Kafka refuses `a_b` if there is an `a.b`, because its statistics write both the same way.

# %%
from confluent_kafka.admin import NewTopic

lab.delete_topic("helloworld")  # so that you can run this cell again
admin = lab.admin()

# TODO: set topic to the name, create it with admin.create_topics, and wait for the result
# BEGIN SOLUTION
topic = lab.topic("helloworld")
created = admin.create_topics([NewTopic(topic, num_partitions=3, replication_factor=3)])
created[topic].result()
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# What does a new topic need besides its name? And `create_topics` takes a list and returns at once: how do you learn whether the brokers agreed?
#
# </details>
# <details><summary>Another hint</summary>
#
# `lab.topic("…")` gives the full name. `NewTopic` takes the name, `num_partitions` and `replication_factor`. `create_topics` returns a dictionary: for each name a future, whose `result()` waits.
#
# </details>

# %% tags=["wrong"]
# one partition | 'helloworld' has 1 partition
topic = lab.topic("helloworld")
admin.create_topics([NewTopic(topic, num_partitions=1, replication_factor=3)])[topic].result()

# %% tags=["wrong"]
# one replica | has 1 replica of each partition
topic = lab.topic("helloworld")
admin.create_topics([NewTopic(topic, num_partitions=3, replication_factor=1)])[topic].result()

# %% tags=["wrong"]
# created under another name | the topic is named 'hello-world'
topic = lab.topic("hello-world")
created = admin.create_topics([NewTopic(topic, num_partitions=3, replication_factor=3)])

# %% tags=["wrong"]
# only a name | the brokers know no topic
topic = lab.topic("helloworld")
created = NewTopic(topic, num_partitions=3, replication_factor=3)

# %% tags=["nbval-check-output"]
lab.check.topic_created(topic)

# %% [markdown] covers="A051 D031 D116"
# ## Ask any broker
#
# How does a client find the leader of a partition? It asks a broker. Every broker knows the whole cluster: which brokers there are, and who leads which partition. This knowledge is called **metadata**.
#
# So a client needs one address to begin with, the setting `bootstrap.servers`. It is wise to give it two or three: if the first broker is down, the client tries the next. In this course `lab` fills in all three. Below are three clients that get one address each.

# %%
from confluent_kafka.admin import AdminClient

for address in lab.bootstrap.split(","):
    told = AdminClient({"bootstrap.servers": address}).list_topics(hello, timeout=10)
    leaders = {number: partition.leader for number, partition in told.topics[hello].partitions.items()}
    print("from", address, "to the brokers", sorted(told.brokers), "and leaders", leaders)

# %% [markdown] covers="A050 D027"
# ## What does `produce()` do?
#
# A record needs a topic and a value. It may also have a key, a partition, a time and headers; lab 02 uses them. Values are bytes for Kafka; the client turns text into bytes for you.
#
# The next cell but one produces five records, and then asks the brokers how many they have. First say what you expect: press the button of your answer, then run on. Your answer is compared with what happens. A wrong one is worth more than none.

# %%
guess = lab.predict(
    "produce() has been called five times. How many records have the brokers stored?",
    {
        "0": "produce() only puts a record into a queue of your program; a thread sends it later.",
        "1": "The first record is not special: it waits in the queue for the others.",
        "5": "produce() does not wait for the brokers: it returns when the record is in a queue.",
    },
    id="1.a",
)
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess.choose("0")
# END SOLUTION

# %%
from threebrokers.kafka.log_reader import read_log

before = len(read_log(lab.bootstrap, hello))
producer = lab.producer({"linger.ms": 60_000})
for n in range(5):
    producer.produce(hello, value=f"hello {n}")

stored = len(read_log(lab.bootstrap, hello)) - before
print(len(producer), "records wait in this program")
print(stored, "records are stored")
guess.compare(stored)

# %% [markdown]
# <details><summary>What happened?</summary>
#
# None is stored. `produce()` puts the record into a queue in your own program and returns. A thread in the background sends the queue, but not at once: it waits a moment for more records, because a few large requests are faster than many small ones. The setting is `linger.ms`. Its default is 5 ms; here it is a minute, so that we had the time to look.
#
# If the program had ended now, all five would be lost, and no error would have been raised.
#
# </details>

# %% [markdown]
# `flush()` sends what waits, and returns when there is an answer for every record. Its result is the number of records that still have none.
#
# The panel below shows the cluster while you work: each partition, its leader, its followers, and how long its log is. It looks twice a second. Run it, then the cell after it, and see the numbers grow. (It has buttons too, to stop a broker. They are for labs 03 and 04; if you press one, the lab's first cell brings the broker back.)

# %%
lab.watch(hello)

# %%
producer.flush()
print(len(producer), "records wait in this program")
print(len(read_log(lab.bootstrap, hello)), "records are stored")

# %% [markdown] covers="D030 D033 D035"
# ## Who tells me where it went?
#
# For each record the broker's answer is a **delivery report**: the partition and the offset, or an error. A report without an error says that the record is **acknowledged**. You get a report if you pass a function as `on_delivery`. The producer never calls this function by itself: it does so only while your program is inside `flush()` or `poll()`. A program that sends all day calls `producer.poll(0)` after each `produce()`, and `flush()` at its end.


# %%
def report(error, message):
    if error is not None:
        print("not stored:", error)
    else:
        place = f"partition {message.partition()}, offset {message.offset()}"
        print(message.value().decode(), "is at", place)


producer = lab.producer()
for n in range(5):
    producer.produce(hello, value=f"hello again {n}", on_delivery=report)
producer.flush()

# %% [markdown]
# Here is the whole log of the topic now. Look for your records at the places that the reports named. You gave no key and no partition, so the producer chose at random, and often the same partition several times in a row (lab 05).

# %%
stored = read_log(lab.bootstrap, hello)
log_picture(stored, text=lambda record: record.value.decode(), partitions=range(3))

# %% [markdown]
# And if it goes wrong? Below, the topic's name is misspelt. The topic might be so new that the brokers do not know it yet, so the client keeps asking, for 30 seconds. The setting makes this one second.

# %%
producer = lab.producer({"topic.metadata.propagation.max.ms": 1000})
producer.produce("helo", value="is anybody there?", on_delivery=report)
producer.flush()

# %% [markdown]
# `produce()` raised no error, and neither did `flush()`. Only the report shows it. A producer that does not listen to its reports works by *fire and forget*: most records arrive, and it never learns which did not. Lab 05 measures what listening costs.

# %% [markdown]
# ### Exercise 1.2: Send ten greetings
#
# Send ten records to `topic`. A delivery report comes with the record, which knows its place now (the Python client's name for it is `Message`): keep these ten in the list `reports`.

# %%
producer = lab.producer({"linger.ms": 1000})  # it waits a second for more records
topic = lab.fresh_topic("greetings", partitions=3, replication_factor=3)

# TODO: make the list reports, write the function that fills it, send ten records
# BEGIN SOLUTION
reports = []


def keep(error, message):
    reports.append(message)


for n in range(10):
    producer.produce(topic, value=f"greeting {n}", on_delivery=keep)
producer.flush()
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# When does the producer call your function? What must your program do after the last `produce()`, and for how long?
#
# </details>
# <details><summary>Another hint</summary>
#
# Pass `on_delivery=` a function of two arguments, an error (or `None`) and a `Message`, which appends the latter to `reports`. `flush()` without a number waits for all reports.
#
# </details>

# %% tags=["wrong"]
# never flushed or polled | your program has not asked for one
reports = []
for n in range(10):
    producer.produce(topic, value=f"greeting {n}", on_delivery=lambda error, message: reports.append(message))

# %% tags=["wrong"]
# flush(0) | flush(0) did not wait
reports = []
for n in range(10):
    producer.produce(topic, value=f"greeting {n}", on_delivery=lambda error, message: reports.append(message))
producer.flush(0)

# %% tags=["wrong"]
# reports ignored | 10 records arrived, but `reports` is empty
reports = []
for n in range(10):
    producer.produce(topic, value=f"greeting {n}")
producer.flush()

# %% tags=["wrong"]
# sent to another topic | holds records of the topic 'greeting'
reports = []
other = lab.fresh_topic("greeting", partitions=3, replication_factor=3)
for n in range(10):
    producer.produce(other, value=f"greeting {n}", on_delivery=lambda error, message: reports.append(message))
producer.flush()

# %% tags=["wrong"]
# places in place of records | `reports[0]` is (
reports = []
for n in range(10):
    producer.produce(
        topic, f"greeting {n}", on_delivery=lambda e, m: reports.append((m.partition(), m.offset()))
    )
producer.flush()

# %% tags=["wrong"]
# sent twice | the topic holds 20 records
reports = []
for n in range(20):
    producer.produce(
        topic, value=f"greeting {n % 10}", on_delivery=lambda error, message: reports.append(message)
    )
producer.flush()

# %% tags=["nbval-check-output"]
lab.check.greetings_sent(topic, producer, reports)

# %% [markdown] covers="A037"
# ## A reader that comes late
#
# The topic `hello` holds ten records now. Next, a consumer begins to read it. A consumer belongs to a **group**, whose name is in the setting `group.id`. This group is new. The consumer subscribes to the topic and takes what comes within three seconds, at most 100 records.

# %%
guess = lab.predict(
    "Ten records are stored, and a new group begins to read. How many does its consumer get?",
    {
        "all that are stored": "They are all there, but a new group begins at the end if nobody tells it otherwise.",
        "one from each partition": "A log has no newest value that every reader is given first.",
        "none": "A new group begins at the end, so it gets only what comes later.",
    },
    id="1.b",
)
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess.choose("none")
# END SOLUTION

# %%
late = lab.consumer({"group.id": lab.group("late")})
late.subscribe([hello])
got = len(late.consume(100, timeout=3))
print(got, "records")
guess.compare("none" if got == 0 else "one from each partition" if got == 3 else "all that are stored")

# %% [markdown]
# <details><summary>What happened?</summary>
#
# It got none. A new group has no place in the topic yet, and the setting `auto.offset.reset` says where it begins. The default is `latest`: at the end. The consumer gets only what comes after it has begun. `earliest` means: at the first record that is still stored.
#
# </details>

# %% [markdown]
# It does get what is sent from now on:

# %%
producer = lab.producer()
producer.produce(hello, value="hello to those who listen now")
producer.flush()
print([message.value() for message in late.consume(1, timeout=10)])
late.close()

# %% [markdown] covers="A036 A054"
# Now from the start. Most consumers have a loop like this one: `poll(0.2)` waits up to 0.2 seconds and returns one record, or `None`.

# %%
consumer = lab.consumer({"group.id": lab.group("reports"), "auto.offset.reset": "earliest"})
consumer.subscribe([hello])
print("first poll:", consumer.poll(0))
for _ in range(30):
    message = consumer.poll(0.2)
    if message is None:
        continue
    if message.error() is not None:
        print("error:", message.error())
        continue
    place = f"partition {message.partition()}, offset {message.offset()}:"
    print(place, "key", message.key(), "value", message.value().decode())
consumer.close()

# %% [markdown]
# Two things to see. The first poll returned `None`, although eleven records are there: the consumer has to join its group and find the leaders first. So *an empty poll does not mean an empty topic*. And there is no last record: more may come at any time, so the program itself decides when to stop. This loop stops after 30 polls; `consume(10, timeout=5)` stops after 10 records or after 5 seconds.
#
# What `poll()` returns may also be an error, for example when the topic does not exist. So look at `message.error()` first.

# %% [markdown]
# The next two exercises each begin with a topic that holds ten greetings. This function makes one. With `partition=` the producer does not choose: greeting 0 goes to partition 0, greeting 1 to partition 1, and so on, in turn.

# %%
from secrets import token_hex


def ten_greetings(name):
    full_name = lab.fresh_topic(name, partitions=3, replication_factor=3)
    sender = lab.producer()
    for n in range(10):
        sender.produce(full_name, value=f"greeting {n}", partition=n % 3)
    sender.flush()
    return full_name


# %% [markdown]
# ### Exercise 1.3: Read them all from the start
#
# Here are ten greetings, and a group that nobody has used. Make a `consumer` of that group, and read all ten into the list `messages`. Print them: do they come in the order in which they were sent?

# %%
topic = ten_greetings("letters")
group = lab.group(f"visitors-{token_hex(2)}")  # another name each time this cell runs

# TODO: make the consumer, subscribe it to topic, read ten records
# BEGIN SOLUTION
consumer = lab.consumer({"group.id": group, "auto.offset.reset": "earliest"})
consumer.subscribe([topic])
messages = consumer.consume(10, timeout=10)
for message in messages:
    print("partition", message.partition(), message.value().decode())
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Where does a new group begin if you say nothing? And how long should your program wait when a poll returns nothing?
#
# </details>
# <details><summary>Another hint</summary>
#
# Two settings: `group.id` and `auto.offset.reset`. After `subscribe([…])`, the method `consume(number, timeout=seconds)` returns a list.
#
# </details>

# %% tags=["wrong"]
# default reset | your consumer began at the end of the topic
consumer = lab.consumer({"group.id": group})
consumer.subscribe([topic])
messages = consumer.consume(10, timeout=2)

# %% tags=["wrong"]
# a group that has committed | has read 'letters' before
for seconds in (10, 2):
    consumer = lab.consumer({"group.id": group, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    messages = consumer.consume(10, timeout=seconds)
    consumer.close()

# %% tags=["wrong"]
# stops at the first empty poll | an empty poll says only
consumer = lab.consumer({"group.id": group, "auto.offset.reset": "earliest"})
consumer.subscribe([topic])
messages = []
while (message := consumer.poll(0)) is not None:
    messages.append(message)

# %% tags=["wrong"]
# keeps the texts only | every item of `messages` should be a Message
consumer = lab.consumer({"group.id": group, "auto.offset.reset": "earliest"})
consumer.subscribe([topic])
messages = [message.value().decode() for message in consumer.consume(10, timeout=10)]

# %% tags=["wrong"]
# sorted backwards | are not in the order of their offsets
consumer = lab.consumer({"group.id": group, "auto.offset.reset": "earliest"})
consumer.subscribe([topic])
messages = sorted(consumer.consume(10, timeout=10), key=lambda message: message.value(), reverse=True)

# %% tags=["nbval-check-output"]
lab.check.read_from_start(messages, consumer)

# %% [markdown]
# <details><summary>In which order did they come?</summary>
#
# One partition after another: for example 0, 3, 6, 9, then 2, 5, 8, then 1, 4, 7. Kafka keeps the order inside a partition only. Which partition comes first may be different next time.
#
# </details>

# %% [markdown]
# ## The group has a memory
#
# A consumer tells the brokers how far its group has come in each partition: it **commits** its offsets, every five seconds (`auto.commit.interval.ms`) and when it closes. The next consumer of the group goes on from there.
#
# The function below reads a topic for a group. First the group `reports` reads `hello` once more; it has read all of it above. Then the group `search` reads it for the first time.

# %%
guess = lab.predict(
    "11 records are stored. How many does the group `reports` get, and how many the group `search`?",
    {
        "11 and 11": "A group that has read a record does not get it again: it goes on where it stopped.",
        "0 and 11": "Each group has a place of its own, and only `reports` has read them already.",
        "0 and 0": "Reading removes nothing: what `reports` has read is still there for `search`.",
    },
    id="1.c",
)
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess.choose("0 and 11")
# END SOLUTION


# %%
def read(full_name, group_id, most, seconds):
    reader = lab.consumer({"group.id": group_id, "auto.offset.reset": "earliest"})
    reader.subscribe([full_name])
    received = reader.consume(most, timeout=seconds)
    reader.close()
    return received


reports = len(read(hello, lab.group("reports"), 11, seconds=3))
search = len(read(hello, lab.group("search"), 11, seconds=10))
guess.compare(f"{reports} and {search}")

# %% [markdown]
# <details><summary>What happened?</summary>
#
# `reports` got none: it has read all eleven, and goes on after them. `search` got all eleven: it is a group of its own, and does not disturb others. `auto.offset.reset` matters only for a group that has no place yet.
#
# So "my consumer gets nothing" often means: this group has read it already. When you do not know what it means, `lab.why_empty(consumer, topic)` looks at the brokers and tells you. The loop above, too, prints nothing if you run it a second time.
#
# </details>

# %% [markdown]
# One of Kafka's own tools shows what a group has committed: for each partition the offset that comes next for the group, the end of the log, and the difference, the **lag**.

# %%
table = lab.cluster.tool("kafka-consumer-groups", "--describe", "--group", lab.group("reports"))
print("\n".join(line[:80] for line in table.splitlines()))

# %% [markdown]
# ### Exercise 1.4: Read them a second time
#
# The group below has read all ten greetings once, into `first`. Let the same group read them again, into the list `again`. No new group, no new topic.

# %%
from confluent_kafka import TopicPartition

topic = ten_greetings("postcards")
group = lab.group(f"collectors-{token_hex(2)}")  # another name each time this cell runs
first = read(topic, group, 10, seconds=10)

# TODO: make a consumer of the group, take the group back to offset 0 in each partition, read ten records
# BEGIN SOLUTION
consumer = lab.consumer({"group.id": group})
consumer.commit(offsets=[TopicPartition(topic, p, 0) for p in range(3)], asynchronous=False)
consumer.subscribe([topic])
again = consumer.consume(10, timeout=10)
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# What do the brokers keep for a group? Who may write it, and when: before the consumer subscribes, or after?
#
# </details>
# <details><summary>Another hint</summary>
#
# `consumer.commit` takes `offsets`, a list of `TopicPartition(topic, partition, offset)`, and waits with `asynchronous=False`. Or give such a list to `consumer.assign` in place of `subscribe`.
#
# </details>

# %% tags=["wrong"]
# new group | your consumer belongs to the group
consumer = lab.consumer({"group.id": lab.group(f"others-{token_hex(2)}"), "auto.offset.reset": "earliest"})
consumer.subscribe([topic])
again = consumer.consume(10, timeout=10)

# %% tags=["wrong"]
# nothing rewound | the group stands at the end of every partition
consumer = lab.consumer({"group.id": group, "auto.offset.reset": "earliest"})
consumer.subscribe([topic])
again = consumer.consume(10, timeout=2)

# %% tags=["wrong"]
# topic re-created | are not those of the first reading
ten_greetings("postcards")
consumer = lab.consumer({"group.id": group, "auto.offset.reset": "earliest"})
consumer.subscribe([topic])
again = consumer.consume(10, timeout=1)

# %% tags=["wrong"]
# one partition goes back | `again` holds 4 of the 10 records
consumer = lab.consumer({"group.id": group})
consumer.commit(offsets=[TopicPartition(topic, 0, 0)], asynchronous=False)
consumer.subscribe([topic])
again = consumer.consume(4, timeout=10)

# %% tags=["wrong"]
# the old list | `again` holds what `first` holds
consumer = lab.consumer({"group.id": group})
again = first

# %% tags=["nbval-check-output"]
lab.check.read_again(group, first, again, consumer)

# %% [markdown]
# There are other ways back: `consumer.seek()` while it reads, or, when all consumers of the group are closed, Kafka's tool `kafka-consumer-groups` with `--reset-offsets --to-earliest --execute`.

# %% [markdown] covers="A030 B046 B049 B050"
# ## The same from the command line
#
# Kafka comes with tools for a terminal. `lab.cluster.tool` runs one of them on this machine and adds the brokers' addresses. In a terminal the next line would be `kafka-topics.sh --bootstrap-server localhost:9092 --list`.
#
# Older texts start a second system first, ZooKeeper, and give the tools `--zookeeper` or `--broker-list`. Kafka 4 has none of these.

# %%
print(lab.cluster.tool("kafka-topics", "--list"))
print(lab.cluster.tool("kafka-topics", "--describe", "--topic", hello).expandtabs(1))

# %% [markdown] covers="A035 E230"
# `__consumer_offsets` is Kafka's own topic: the groups' committed offsets are records too. `--exclude-internal` leaves it out.
#
# The console producer sends each line that you type as a record, until Ctrl-C or the end of the input. Here `parse.key=true` makes it split each line into a key and a value.

# %%
typed = "anna:hello from the console\nbao:hello too\n"
keyed = ["--reader-property", "parse.key=true", "--reader-property", "key.separator=:"]
print(lab.cluster.tool("kafka-console-producer", "--topic", hello, *keyed, typed=typed), end="")

# %% [markdown] covers="E232 E233 E234 E235"
# The console consumer begins at the end, as a new group does. `--from-beginning` is its `earliest`, `--max-messages` and `--timeout-ms` end it, and each `print.…=true` shows one more part of a record.

# %%
shown = [f"--formatter-property=print.{part}=true" for part in ("partition", "offset", "key")]
options = ["--from-beginning", "--max-messages", "13", "--timeout-ms", "10000", *shown]
print(lab.cluster.tool("kafka-console-consumer", "--topic", hello, *options))

# %% [markdown]
# <details><summary>More options of these two tools</summary>
#
# | tool | option | meaning |
# |---|---|---|
# | producer | `--sync` | wait for the answer to each record before the next |
# | producer | `--batch-size`, `--timeout` | bytes and milliseconds to collect before sending |
# | producer | `--compression-codec` | compress; without a value: `gzip` |
# | producer, consumer | `--command-property name=value` | any setting of the client (`--producer-property` and `--consumer-property` are the old names) |
# | consumer | `--include 'orders.*'` | all topics of these names, a regular expression (`--whitelist` is gone) |
# | consumer | `--partition 1 --offset 5` | one partition, from one offset |
# | consumer | `--group name` | read as a member of this group |
# | consumer | `--skip-message-on-error` | go on after a record that cannot be shown |
# | consumer | `--formatter-property` | `print.timestamp`, `print.headers`, `key.separator`, `line.separator`, `key.deserializer`, … (`--property` is the old name) |
# | consumer | `--formatter` | another class that writes the records, for example `org.apache.kafka.tools.consumer.NoOpMessageFormatter`, which writes nothing, or `LoggingMessageFormatter` |
#
# </details>

# %% [markdown] covers="A013"
# Client and broker speak a protocol of Kafka's own, over TCP. Each kind of request has a number and versions, and client and broker agree on one that both know. So an old client works with a new broker. This tool lists what a broker understands:

# %%
versions = lab.cluster.tool("kafka-broker-api-versions").splitlines()
print("\n".join(versions[:8]), "\n\t…")

# %% [markdown]
# ## What to remember
#
# - A record is safe when its delivery report says so, not when `produce()` returns. End with `flush()`.
# - Reading removes nothing. Each group has its own place, which the brokers keep; a new group begins where `auto.offset.reset` says.
# - An empty poll means that nothing has arrived yet. A topic has no end.
#
# ## Quiz
#
# **1. Your program calls `produce()` a thousand times and ends at once. No error was shown. Are the records stored?**
#
# <details><summary>Answer</summary>
#
# You cannot know. What was still in the program's queue is lost. Call `flush()` and look at the delivery reports.
#
# </details>
#
# **2. Two consumers with different groups read a topic of ten records from the start. How many does each get?**
#
# <details><summary>Answer</summary>
#
# Ten. Groups do not take records from each other. (Two consumers of the *same* group share them: lab 07.)
#
# </details>
#
# **3. A consumer has `auto.offset.reset=earliest` and gets nothing, although the topic is full. What may be the reason?**
#
# <details><summary>Answer</summary>
#
# Its group has committed offsets and stands at the end. `earliest` matters only for a group without a place. Or the program stopped at the first empty poll, or the topic's name is misspelt.
#
# </details>
#
# **4. You sent A, B and C, in this order, without a key, to a topic of three partitions. A consumer reads C, A, B. Is this a fault?**
#
# <details><summary>Answer</summary>
#
# No. Order is kept inside a partition only. In a topic with one partition they would come in order, and so do records with the same key (lab 02).
#
# </details>

# %% [markdown]
# Compare with [the solution](../solutions/01_hello_kafka.ipynb), then go on to [lab 02: what is a topic made of?](02_the_log.ipynb)
