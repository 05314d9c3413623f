# %% [markdown]
# # Where did my message go?
#
# **You will** create a topic, follow records to the places where they are stored, read them again and again, and find out why a reader gets nothing.
#
# *{minutes} minutes, and {further} more if you go further. To begin again, run from the first cell; an exercise can be tried again at any time.*

# %%
from threebrokers import open_lab

lab = open_lab("01")

# %% [markdown]
# Three questions from earlier labs, to see what is still there:

# %%
lab.review()

# %% [markdown] covers="A002 E001 D018 D022 D023" explains="record, topic, publish and subscribe, producer, consumer"
# ## A message is sent to a name
#
# A program that has something to tell sends a message, which Kafka calls a **record**: from here on we say record. It does not send it to another program, but to a **topic**, which is a name, such as `orders`. Other programs read that topic, now or later. The sender does not know them and does not wait for them, and a topic that nobody reads is fine too. This is called *publish and subscribe*.
#
# The sender is a **producer**, the reader is a **consumer**. In the picture a company's web pages and its phone app send every click to one topic; the reports and the search read it. Or many programs send their messages for customers to one topic, and one program reads it, writes the e-mails, and leaves out what a customer does not want.

# %%
from threebrokers.diagrams import log_picture, message_path, topic_picture

message_path(producers=("web pages", "phone app"), consumers=("reports", "search"))

# %% [markdown] explains="partition, offset"
# ## A topic is made of partitions
#
# A topic is divided into **partitions**. A partition is a list of records: each new record is added at the end and gets the next number, its **offset**: 0, 1, 2, and so on. So a record has a place: topic, partition, offset.
#
# The rest of the picture is known from lab 00: replicas, of which one is the leader. Producers write to the leader, consumers read from it.

# %%
hello = lab.fresh_topic("hello", partitions=3, replication_factor=3)
topic_picture(lab.cluster.state().topic(hello))

# %% [markdown] covers="A050 D027"
# ## What does `produce()` do?
#
# You give `produce()` a topic, and usually a value. You may also give a key, a partition, a time and headers; lab 02 uses them. A value is bytes for Kafka; the client turns text into bytes for you.
#
# The cell after the question produces five records, and then asks the brokers how many they have.

# %%
guess_1a = lab.predict("1.a")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_1a.choose("0")
# END SOLUTION

# %%
from threebrokers.kafka.log_reader import read_log

before = len(read_log(lab.bootstrap, hello))
producer = lab.producer({"linger.ms": 60_000})
for n in range(5):
    producer.produce(hello, value=f"hello {n}")

stored = len(read_log(lab.bootstrap, hello)) - before
print(stored, "records are stored")
guess_1a.compare(stored)

# %% [markdown] explains="linger.ms"
# <details><summary>What happened?</summary>
#
# `produce()` puts the record into a queue in your own program and returns. A thread in the background sends the queue, but not at once: it waits a moment for more records, because a few large requests are faster than many small ones. The setting is `linger.ms`. Its default is 5 ms; here it is a minute, so that we had the time to look.
#
# If the program had ended now, all five would be lost, and no error raised. The client only writes a line to the terminal: *Producer terminating with 5 messages (…) still in queue or transit: use flush() …* (The clients of this course keep their lines in a file, and even there this one is missing.)
#
# </details>

# %% [markdown] explains="flush()"
# `flush()` sends what waits, and returns when there is an answer for every record. Its result is the number of records that still have none. (`with Producer({…}) as producer:` flushes by itself at its end.)

# %%
print(producer.flush(), "records have no answer yet")
print(len(read_log(lab.bootstrap, hello)) - before, "records are stored")

# %% [markdown]
# ## One letter is missing
#
# The next program sends to `helo`, a topic that does not exist, and these brokers do not create it. But it might be so new that they do not know it yet, so the client keeps asking: for 30 seconds by default, here for one.

# %%
guess_1b = lab.predict("1.b")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_1b.choose("`flush()` raises an error")
# END SOLUTION

# %%
producer = lab.producer({"topic.metadata.propagation.max.ms": 1000})
producer.produce("helo", value="is anybody there?")
waiting = producer.flush()
print("flush() has returned", waiting)
guess_1b.compare("it does not notice" if waiting == 0 else "`flush()` returns 1: the record waits")

# %% [markdown] covers="D030 D033 D035" explains="delivery report, acknowledged, on_delivery, fire and forget"
# ## Who tells me where it went?
#
# For each record there is an answer, its **delivery report**: the partition and the offset, or an error. A report without an error says that the record is **acknowledged**. You get the report if you pass a function as `on_delivery`. If you do not, most records arrive, and you never learn which did not: *fire and forget*.
#
# This client calls the function only while your program is inside `flush()` or `poll()`. A program that sends all day calls `producer.poll(0)` after each `produce()`, and `flush()` at its end.


# %%
def report(error, message):
    if error is not None:
        print("not stored:", error.str())
    else:
        place = f"partition {message.partition()}, offset {message.offset()}"
        print(message.value().decode(), "is at", place)


producer = lab.producer({"topic.metadata.propagation.max.ms": 1000})
for n in range(5):
    producer.produce(hello, value=f"hello again {n}", on_delivery=report)
producer.produce("helo", value="is anybody there?", on_delivery=report)
waiting = producer.flush()

# %% [markdown]
# Here is the whole log now. Are your records at the places that the reports named? You gave no key and no partition, so the producer chose at random, and often the same partition several times in a row.

# %%
stored = read_log(lab.bootstrap, hello)
log_picture(stored, text=lambda record: record.value.decode(), partitions=range(3))

# %% [markdown]
# ### Exercise 1.1: Send ten greetings
#
# Send ten records to the topic `greetings`, and prove that all are stored: keep the record that comes with each delivery report in the list `reports`. (The Python client's name for a record is `Message`.)

# %%
sender = lab.producer({"linger.ms": 1000})  # it waits a second for more records
greetings = lab.fresh_topic("greetings", partitions=3, replication_factor=3)

# TODO: make the list reports, write the function that fills it, send ten records
# BEGIN SOLUTION
reports = []


def keep(error, message):
    reports.append(message)


for n in range(10):
    sender.produce(greetings, value=f"greeting {n}", on_delivery=keep)
left = sender.flush()
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Which two things does the client hand to your function, and which of them do you want to keep? And when does it call the function: what must your program do after the last `produce()`?
#
# </details>
# <details><summary>Another hint</summary>
#
# `on_delivery` takes the function itself, without brackets. `reports.append` takes one argument, so it cannot be that function alone. `flush()` without a number waits for all reports.
#
# </details>

# %% tags=["wrong"]
# never flushed or polled | with no delivery report yet
reports = []
for n in range(10):
    sender.produce(
        greetings, value=f"greeting {n}", on_delivery=lambda error, message: reports.append(message)
    )

# %% tags=["wrong"]
# flush(0) | flush(0) did not wait
reports = []
for n in range(10):
    sender.produce(
        greetings, value=f"greeting {n}", on_delivery=lambda error, message: reports.append(message)
    )
sender.flush(0)

# %% tags=["wrong"]
# reports ignored | 10 records arrived, but `reports` is empty
reports = []
for n in range(10):
    sender.produce(greetings, value=f"greeting {n}")
sender.flush()

# %% tags=["wrong"]
# keeps the error | the second of the two things that your function is given
reports = []
for n in range(10):
    sender.produce(greetings, value=f"greeting {n}", on_delivery=lambda error, message: reports.append(error))
sender.flush()

# %% tags=["wrong"]
# calls the function in place of giving it | produce() was given no function
reports = []


def keep(error=None, message=None):
    reports.append(message)


for n in range(10):
    sender.produce(greetings, value=f"greeting {n}", on_delivery=keep())
sender.flush()

# %% tags=["wrong", "raises-exception"]
# append alone, no flush | `append(object, /)`
reports = []
for n in range(10):
    sender.produce(greetings, value=f"greeting {n}", on_delivery=reports.append)

# %% tags=["wrong", "raises-exception"]
# a function of one argument | `<lambda>(message)`
reports = []
for n in range(10):
    sender.produce(greetings, value=f"greeting {n}", on_delivery=lambda message: reports.append(message))
sender.flush()

# %% tags=["wrong"]
# sent to another topic | holds records of the topic 'greeting'
reports = []
other = lab.fresh_topic("greeting", partitions=3, replication_factor=3)
for n in range(10):
    sender.produce(other, value=f"greeting {n}", on_delivery=lambda error, message: reports.append(message))
sender.flush()

# %% tags=["wrong"]
# places in place of records | `reports[0]` is (
reports = []
for n in range(10):
    sender.produce(
        greetings, f"greeting {n}", on_delivery=lambda e, m: reports.append((m.partition(), m.offset()))
    )
sender.flush()

# %% tags=["wrong"]
# sent twice | the topic holds 20 records
reports = []
for n in range(20):
    sender.produce(
        greetings, value=f"greeting {n % 10}", on_delivery=lambda error, message: reports.append(message)
    )
sender.flush()

# %% tags=["right"]
# the function among the settings, and poll() in place of flush()
reports = []
sender = lab.producer({"on_delivery": lambda error, message: reports.append(message)})
for n in range(10):
    sender.produce(greetings, f"greeting {n}")
while len(reports) < 10:
    sender.poll(0.1)

# %% tags=["right"]
# a plain producer that flushes at the end of its with
from confluent_kafka import Producer

reports = []
with Producer({"bootstrap.servers": lab.bootstrap}) as sender:
    for n in range(10):
        sender.produce(greetings, f"hi {n}", callback=lambda error, message: reports.append(message))

# %% tags=["nbval-check-output"]
lab.check.greetings_sent(greetings, sender, reports)

# %% [markdown] covers="A037" explains="consumer group, group.id"
# ## A reader that comes late
#
# The topic `hello` holds ten records now, and a consumer begins to read it. A consumer belongs to a **consumer group**, whose name is the setting `group.id`; this group is new. The consumer subscribes to the topic and takes what comes within three seconds.

# %%
guess_1c = lab.predict("1.c")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_1c.choose("none")
# END SOLUTION

# %%
late = lab.consumer({"group.id": lab.group("late")})
late.subscribe([hello])
got = len(late.consume(100, timeout=3))  # at most 100 records
guess_1c.compare({0: "none", 3: "one from each partition", 10: "all that are stored"}.get(got))

# %% [markdown] explains="auto.offset.reset"
# <details><summary>What happened?</summary>
#
# A new group has no place in the topic yet, and the setting `auto.offset.reset` says where it begins. The default is `latest`: at the end. `earliest` means: at the first record that is still stored.
#
# </details>

# %% [markdown]
# It does get what is sent from now on. (`wait_for_position` waits until the consumer knows where it begins.)

# %%
from threebrokers.lab.scenarios import wait_for_position

wait_for_position(lab, late)  # on a busy machine this may take longer than the 3 s above
producer = lab.producer()
producer.produce(hello, value="hello to those who listen now")
producer.flush()
print([message.value() for message in late.consume(1, timeout=10)])
late.close()

# %% [markdown] covers="A054" explains="poll"
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
        print("error:", message.error().str())
        continue
    place = f"partition {message.partition()}, offset {message.offset()}:"
    print(place, message.value().decode())
consumer.close()

# %% [markdown]
# The first poll returned `None`, although eleven records are there: the consumer has to join its group and find the leaders first. So *an empty poll does not mean an empty topic*. And there is no last record: more may come at any time, so the program decides when to stop. This loop stops after 30 polls; `consume(10, timeout=5)` stops after 10 records or 5 seconds. What comes may also be an error, for example if the topic does not exist: so look at `message.error()` first.

# %% [markdown]
# ### Exercise 1.2: Read them all from the start
#
# The topic `letters` holds ten greetings, sent to partitions 0, 1 and 2 in turn. `visitors` is the name of a group that nobody has used. Make `reader`, a consumer of that group, and read all ten into the list `messages`. Print them: do they come in the order in which they were sent?

# %%
from secrets import token_hex

from threebrokers.lab.scenarios import ten_greetings

letters = ten_greetings(lab, "letters")
visitors = lab.group(f"visitors-{token_hex(2)}")  # another name each time this cell runs

# TODO: make the consumer, subscribe it to letters, read ten records
# BEGIN SOLUTION
reader = lab.consumer({"group.id": visitors, "auto.offset.reset": "earliest"})
reader.subscribe([letters])
messages = reader.consume(10, timeout=10)
for message in messages:
    print("partition", message.partition(), message.value().decode())
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Where does a new group begin if you say nothing? How does the consumer learn which topic it shall read? And how long should your program wait when a poll returns nothing?
#
# </details>
# <details><summary>Another hint</summary>
#
# Two settings: `group.id` and `auto.offset.reset`. `subscribe` takes a list of topics. Keep the records as they come; their text is needed only for printing.
#
# </details>

# %% tags=["wrong"]
# default reset | it begins at the end
reader = lab.consumer({"group.id": visitors})
reader.subscribe([letters])
messages = reader.consume(10, timeout=2)

# %% tags=["wrong"]
# a group that has committed | has read 'letters' before
for seconds in (10, 2):
    reader = lab.consumer({"group.id": visitors, "auto.offset.reset": "earliest"})
    reader.subscribe([letters])
    messages = reader.consume(10, timeout=seconds)
    reader.close()

# %% tags=["wrong"]
# stops at the first empty poll | an empty poll says only
reader = lab.consumer({"group.id": visitors, "auto.offset.reset": "earliest"})
reader.subscribe([letters])
messages = []
while (message := reader.poll(0)) is not None:
    messages.append(message)

# %% tags=["wrong"]
# forgets to subscribe | has neither subscribed nor been given partitions
reader = lab.consumer({"group.id": visitors, "auto.offset.reset": "earliest"})
messages = reader.consume(10, timeout=1)

# %% tags=["wrong"]
# another topic | has subscribed to 'hello'
reader = lab.consumer({"group.id": visitors})
reader.subscribe([hello])
messages = reader.consume(10, timeout=1)

# %% tags=["wrong"]
# another topic, read to its end | Look at: the name of the topic
reader = lab.consumer({"group.id": visitors, "auto.offset.reset": "earliest"})
reader.subscribe([hello])
messages = reader.consume(10, timeout=10)

# %% tags=["wrong"]
# another group | your consumer belongs to the group
reader = lab.consumer({"group.id": lab.group("visitors"), "auto.offset.reset": "earliest"})
reader.subscribe([letters])
messages = reader.consume(10, timeout=10)

# %% tags=["wrong"]
# read by one consumer, another one given | has read nothing
reader = lab.consumer({"group.id": visitors, "auto.offset.reset": "earliest"})
reader.subscribe([letters])
messages = reader.consume(10, timeout=10)
reader.close()
reader = lab.consumer({"group.id": visitors, "auto.offset.reset": "earliest"})

# %% tags=["wrong"]
# partition 0 only | all of partition 0
from confluent_kafka import TopicPartition

reader = lab.consumer({"group.id": visitors})
reader.assign([TopicPartition(letters, 0, 0)])
messages = reader.consume(10, timeout=2)

# %% tags=["wrong"]
# keeps the texts only | every item of `messages` should be a Message
reader = lab.consumer({"group.id": visitors, "auto.offset.reset": "earliest"})
reader.subscribe([letters])
messages = [message.value().decode() for message in reader.consume(10, timeout=10)]

# %% tags=["wrong"]
# wants an error in place of a beginning | Look at: auto.offset.reset: where does a group begin
reader = lab.consumer({"group.id": visitors, "auto.offset.reset": "error"})
reader.subscribe([letters])
messages = reader.consume(10, timeout=3)

# %% tags=["wrong"]
# sorted backwards | are not in the order of their offsets
reader = lab.consumer({"group.id": visitors, "auto.offset.reset": "earliest"})
reader.subscribe([letters])
messages = sorted(reader.consume(10, timeout=10), key=lambda message: message.value(), reverse=True)

# %% tags=["right"]
# a plain consumer, polled in a loop and closed
from confluent_kafka import Consumer

messages = []
reader = Consumer({"bootstrap.servers": lab.bootstrap, "group.id": visitors, "auto.offset.reset": "earliest"})
reader.subscribe([letters])
while len(messages) < 10:
    if (message := reader.poll(1)) is not None:
        messages.append(message)
reader.close()

# %% tags=["right"]
# partitions and offsets by hand
from confluent_kafka import OFFSET_BEGINNING, TopicPartition

reader = lab.consumer({"group.id": visitors})
reader.assign([TopicPartition(letters, p, OFFSET_BEGINNING) for p in range(3)])
messages = reader.consume(10, timeout=10)

# %% tags=["right"]
# several calls, sorted by their places
reader = lab.consumer({"group.id": visitors, "auto.offset.reset": "smallest", "enable.auto.commit": False})
reader.subscribe([letters])
messages = []
while len(messages) < 10:
    messages += reader.consume(4, timeout=0.3)
messages.sort(key=lambda message: (message.partition(), message.offset()))

# %% tags=["nbval-check-output"]
lab.check.read_from_start(visitors, reader, messages)

# %% [markdown]
# <details><summary>In which order did they come?</summary>
#
# One partition after another: for example 0, 3, 6, 9, then 2, 5, 8, then 1, 4, 7. Kafka keeps the order inside a partition only. Which partition comes first may be different next time.
#
# </details>

# %% [markdown]
# ## A second reading
#
# The loop above has read all eleven records of `hello`, for the group `reports`. This function, too, reads from `earliest`. Now the group `reports` reads `hello` once more, and then the group `search` reads it for the first time.


# %%
def read(full_name, group_id, most, seconds):
    one = lab.consumer({"group.id": group_id, "auto.offset.reset": "earliest"})
    one.subscribe([full_name])
    received = one.consume(most, timeout=seconds)
    one.close()
    return received


# %%
guess_1d = lab.predict("1.d")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_1d.choose("11 and 11")
# END SOLUTION

# %%
from secrets import token_hex

search = lab.group(f"search-{token_hex(2)}")  # another name each time this cell runs
second = len(read(hello, lab.group("reports"), 11, seconds=3))
other = len(read(hello, search, 11, seconds=10))
guess_1d.compare(f"{second} and {other}")

# %% [markdown] explains="commit, auto.commit.interval.ms"
# <details><summary>What happened?</summary>
#
# A group has a memory. Its consumers tell the brokers how far it has come in each partition: they **commit** offsets, every five seconds (`auto.commit.interval.ms`) and when they close. The next consumer of the group goes on from there; `auto.offset.reset` matters only where the group has committed nothing (or a place that the log no longer has: lab 08). Another group has a place of its own: nobody takes records away from anybody.
#
# </details>

# %% [markdown]
# ## Two consumers, one group
#
# Until now each consumer was alone in its group. `join_group` makes two consumers of one group and waits until both are members. Then twelve records are sent, four to each of the three partitions, and the two read until all have come.

# %%
guess_1e = lab.predict("1.e")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_1e.choose("6 and 6")
# END SOLUTION

# %%
from threebrokers.lab.scenarios import join_group, read_together

cards = lab.fresh_topic("cards", partitions=3, replication_factor=3)
team = join_group(lab, cards, "team", members=2)
for n in range(12):
    producer.produce(cards, f"card {n}", partition=n % 3)
producer.flush()
shares = read_together(lab, team, 12)
for share in shares:
    print(len(share), "records, from partitions", {message.partition() for message in share})
guess_1e.compare(" and ".join(map(str, sorted(map(len, shares), reverse=True))))

# %% [markdown] covers="B034" explains="assigned"
# <details><summary>What happened?</summary>
#
# A group shares out partitions, not records: each partition is **assigned** to one member, which gets all its records in order. For two members, three partitions are two and one. A third member would get one of them, and a fourth none: so the number of partitions limits how many programs of a group can work at the same time. If a member leaves or dies, the others take over its partitions.
#
# </details>

# %% [markdown]
# ## Nothing comes
#
# "My consumer gets nothing", and no error shows. Here are three such consumers of `news`, a topic of one partition with five records. A and B are alone in their groups, C shares its group with another consumer.

# %%
from threebrokers.lab.scenarios import silent_consumers

news = lab.fresh_topic("news", replication_factor=3)
silent = silent_consumers(lab, news)
for name, one in silent.items():
    begins = one.config.get("auto.offset.reset", "(not set)")
    print(f"{name}: group {one.config['group.id']}, auto.offset.reset {begins},", end=" ")
    print(f"partitions: {len(one.assignment())}, records: {len(one.consume(1, timeout=1))}")

# %% [markdown]
# Why does each of them get nothing?

# %%
guess_1f = lab.predict("1.f")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_1f.choose("only B")
# END SOLUTION

# %% [markdown]
# Say your three reasons, then ask. `lab.why_empty` looks at the brokers and at the consumer, and changes nothing.

# %%
from IPython.display import display

for name, one in silent.items():
    print(name)
    display(lab.why_empty(one, news))

# %%
producer.produce(news, "the sixth")
producer.flush()
got = [name for name, one in silent.items() if one.consume(1, timeout=2)]
guess_1f.compare({"A": "only A", "B": "only B", "AB": "A and B", "ABC": "all three"}.get("".join(got)))

# %% [markdown]
# `why_empty` is a tool of this course. On another cluster look at the same things: what the group has committed, where the log ends, `auto.offset.reset`, and who has which partition.

# %% [markdown] explains="session.timeout.ms, group.initial.rebalance.delay.ms"
# ## Here and in production
#
# | | here | Kafka's default |
# |---|---|---|
# | `auto.create.topics.enable` (brokers) | `false` | `true` |
# | `group.initial.rebalance.delay.ms` (brokers): how long a new group waits for more members | 0 | 3 s |
# | `session.timeout.ms` (consumer): after so long a member that died loses its partitions | 6 s | 45 s |
# | where the committed offsets are: `__consumer_offsets` | 3 partitions, 3 replicas | 50 partitions, 3 replicas |

# %% [markdown]
# ## What to remember
#
# - You know that a record is stored when its delivery report says so, not when `produce()` returns. End with `flush()`, and look at the reports.
# - Reading removes nothing. The brokers keep a place for each group; a group without one begins where `auto.offset.reset` says.
# - The members of a group share the partitions.
#
# ## Quiz
#
# Each answer is explained when you have chosen it. The first one is kept with your progress, on this machine.

# %%
lab.quiz()

# %% [markdown]
# ## Going further
#
# You can stop here and go to [lab 02](02_the_log.ipynb). What follows: create a topic as other programs do, take a group back, Kafka's own tools for a terminal, and the same in Java.

# %% [markdown] covers="A034 E020" explains="auto.create.topics.enable, allow.auto.create.topics, admin client"
# ### A topic that is not there
#
# On these brokers a topic must exist before it is used. Kafka's default is another one (`auto.create.topics.enable`): a topic that does not exist is created by whoever writes to it, and by a Java program that reads it, with one partition and one replica. (The consumer of this Python client creates none, unless you set `allow.auto.create.topics`.) So a spelling mistake becomes a new topic.
#
# `lab.fresh_topic` is a helper of this course. Kafka's own way is the **admin client**. The next cell asks it for a topic. (`lab.topic` gives the full name: on a cluster that several people share, your own prefix comes first.) No error appears. Is the topic there?

# %%
from confluent_kafka.admin import NewTopic

admin = lab.admin()
name = lab.topic("hello world")
asked = admin.create_topics([NewTopic(name, num_partitions=1, replication_factor=4)])
print(asked)
print("Is it there?", name in admin.list_topics(timeout=10).topics)

# %% [markdown] covers="A027 A028"
# ### Exercise 1.3: Create the topic
#
# `create_topics` only hands the request over. It returns a dictionary: for each topic a *future*, in which the brokers' answer will be. Its `result()` waits for the answer, and raises what the brokers refuse. Ask it, mend one fault after another, and create `helloworld` so that **each broker leads one partition, and each broker has every record**. How many partitions is that, and how many replicas?
#
# A topic's name may have letters, digits, `.`, `_` and `-`. Use `.` or `_`, not both: while `a.b` exists, Kafka refuses `a_b`, because both are `a_b` in the names of its metrics.

# %%
lab.delete_topic("helloworld")  # so that you can run this cell again
admin = lab.admin()

# TODO: set helloworld to the topic's name, and create it with admin.create_topics
# BEGIN SOLUTION
helloworld = lab.topic("helloworld")
created = admin.create_topics([NewTopic(helloworld, num_partitions=3, replication_factor=3)])
created[helloworld].result()
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# What does `asked[name].result()` say, and what does it say when you have mended that? If one broker leads one partition, how many partitions do three brokers lead?
#
# </details>
# <details><summary>Another hint</summary>
#
# Copy the lines of `NewTopic` and `create_topics` from the cell above, change the three values of `NewTopic`, and ask for the `result()` each time. A name with a space is only the first fault.
#
# </details>

# %% tags=["wrong"]
# one partition | 'helloworld' has 1 partition
helloworld = lab.topic("helloworld")
admin.create_topics([NewTopic(helloworld, num_partitions=1, replication_factor=3)])[helloworld].result()

# %% tags=["wrong"]
# too many partitions | some brokers would lead more than one
helloworld = lab.topic("helloworld")
admin.create_topics([NewTopic(helloworld, num_partitions=6, replication_factor=3)])[helloworld].result()

# %% tags=["wrong"]
# one replica | has 1 replica of each partition
helloworld = lab.topic("helloworld")
admin.create_topics([NewTopic(helloworld, num_partitions=3, replication_factor=1)])[helloworld].result()

# %% tags=["wrong"]
# one broker leads all | broker 1 leads 3 partitions
helloworld = lab.topic("helloworld")
places = [[1, 2, 3], [1, 2, 3], [1, 2, 3]]
admin.create_topics([NewTopic(helloworld, num_partitions=3, replica_assignment=places)])[helloworld].result()

# %% tags=["wrong"]
# created under another name | the topic is named 'hello-world'
helloworld = lab.topic("hello-world")
created = admin.create_topics([NewTopic(helloworld, num_partitions=3, replication_factor=3)])

# %% tags=["wrong"]
# the future is not asked | the brokers know no topic
helloworld = lab.topic("helloworld")
created = admin.create_topics([NewTopic(helloworld, num_partitions=3, replication_factor=4)])

# %% tags=["wrong"]
# the plan in place of the name | it should be the topic's name
helloworld = NewTopic(lab.topic("helloworld"), num_partitions=3, replication_factor=3)
created = admin.create_topics([helloworld])

# %% tags=["right"]
# Kafka's own tool
helloworld = lab.topic("helloworld")
numbers = ["--partitions", "3", "--replication-factor", "3"]
lab.cluster.tool("kafka-topics", "--create", "--topic", helloworld, *numbers)

# %% tags=["right"]
# the places by hand, and the future is not asked
helloworld = lab.topic("helloworld")
places = [[3, 1, 2], [1, 2, 3], [2, 3, 1]]
created = admin.create_topics([NewTopic(helloworld, num_partitions=3, replica_assignment=places)])

# %% tags=["nbval-check-output"]
lab.check.topic_created(helloworld)

# %% [markdown] covers="A051 D031 D116" explains="metadata, bootstrap.servers, metadata.recovery.strategy"
# ### Ask any broker
#
# How does a client find the leader of a partition? It asks a broker. Every broker knows the whole cluster: which brokers there are, and who leads which partition. This knowledge is called **metadata**.
#
# So a client needs one address to begin with. Give it two or three in `bootstrap.servers`: the first broker may be down when the program starts. If a client loses all brokers that it knows, it begins again from these addresses (`metadata.recovery.strategy=rebootstrap`, the default here and, since Kafka 4.0, in Java). In this course `lab` fills in all three. Below, one client for each address.

# %%
from confluent_kafka.admin import AdminClient

for address in lab.bootstrap.split(","):
    told = AdminClient({"bootstrap.servers": address}).list_topics(hello, timeout=10)
    leaders = {number: partition.leader for number, partition in told.topics[hello].partitions.items()}
    print("from", address, "to the brokers", sorted(told.brokers), "and leaders", leaders)

# %% [markdown]
# ### Exercise 1.4: Read them a second time
#
# The group `collectors` has read all ten greetings of `postcards` once, into `first`. Let the same group read them again, into the list `again`, with a new consumer, `collector`. No new group, no new topic.

# %%
from confluent_kafka import TopicPartition

postcards = ten_greetings(lab, "postcards")
collectors = lab.group(f"collectors-{token_hex(2)}")  # another name each time this cell runs
first = read(postcards, collectors, 10, seconds=10)

# TODO: make a consumer of the group, take the group back to offset 0 in each partition, read ten records
# BEGIN SOLUTION
collector = lab.consumer({"group.id": collectors})
collector.commit(offsets=[TopicPartition(postcards, p, 0) for p in range(3)], asynchronous=False)
collector.subscribe([postcards])
again = collector.consume(10, timeout=10)
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# What do the brokers keep for a group? Who may change it, and when: before the consumer subscribes, or after? How many places are there in a topic of three partitions?
#
# </details>
# <details><summary>Another hint</summary>
#
# `collector.commit` takes `offsets`, a list of `TopicPartition(topic, partition, offset)`, and waits with `asynchronous=False`. Or give such a list to `collector.assign` in place of `subscribe`. `seek` works only when the consumer has its partitions.
#
# </details>

# %% tags=["wrong"]
# new group | your consumer belongs to the group
collector = lab.consumer({"group.id": lab.group(f"others-{token_hex(2)}"), "auto.offset.reset": "earliest"})
collector.subscribe([postcards])
again = collector.consume(10, timeout=10)

# %% tags=["wrong"]
# nothing rewound | the group is at the end of every partition
collector = lab.consumer({"group.id": collectors, "auto.offset.reset": "earliest"})
collector.subscribe([postcards])
again = collector.consume(10, timeout=2)

# %% tags=["wrong"]
# topic re-created | are not those of the first reading
ten_greetings(lab, "postcards")
collector = lab.consumer({"group.id": collectors, "auto.offset.reset": "earliest"})
collector.subscribe([postcards])
again = collector.consume(10, timeout=1)

# %% tags=["wrong"]
# one partition goes back | `again` holds 4 of the 10 records
collector = lab.consumer({"group.id": collectors})
collector.commit(offsets=[TopicPartition(postcards, 0, 0)], asynchronous=False)
collector.subscribe([postcards])
again = collector.consume(4, timeout=10)

# %% tags=["wrong"]
# goes back, and does not subscribe | has neither subscribed nor been given partitions
collector = lab.consumer({"group.id": collectors})
collector.commit(offsets=[TopicPartition(postcards, p, 0) for p in range(3)], asynchronous=False)
again = collector.consume(10, timeout=1)

# %% tags=["wrong", "raises-exception"]
# seeks before it has its partitions | ended in an error
collector = lab.consumer({"group.id": collectors})
collector.subscribe([postcards])
for p in range(3):
    collector.seek(TopicPartition(postcards, p, 0))
again = collector.consume(10, timeout=10)

# %% tags=["wrong"]
# goes behind the end | and partition 0 ends at offset 4
collector = lab.consumer({"group.id": collectors})
collector.commit(offsets=[TopicPartition(postcards, p, 10) for p in range(3)], asynchronous=False)
collector.subscribe([postcards])
again = collector.consume(10, timeout=2)

# %% tags=["wrong"]
# another group reads, and a consumer of this one is made | `collector` has read nothing
again = read(postcards, lab.group(f"others-{token_hex(2)}"), 10, seconds=10)
collector = lab.consumer({"group.id": collectors})

# %% tags=["wrong"]
# the old list | `again` holds what `first` holds
collector = lab.consumer({"group.id": collectors})
again = first

# %% tags=["right"]
# a plain consumer that was given its places
from confluent_kafka import Consumer

collector = Consumer({"bootstrap.servers": lab.bootstrap, "group.id": collectors})
collector.assign([TopicPartition(postcards, p, 0) for p in range(3)])
again = collector.consume(10, timeout=10)

# %% tags=["right"]
# seeks when it has its partitions
collector = lab.consumer({"group.id": collectors})
collector.subscribe([postcards])
wait_for_position(lab, collector)
for place in collector.assignment():
    collector.seek(TopicPartition(postcards, place.partition, 0))
again = collector.consume(10, timeout=10)
collector.close()


# %% tags=["right"]
# told where to begin when the partitions come
def back(consumer, places):
    for place in places:
        place.offset = 0
    consumer.assign(places)


collector = lab.consumer({"group.id": collectors})
collector.subscribe([postcards], on_assign=back)
again = collector.consume(10, timeout=10)

# %% tags=["right"]
# Kafka's own tool
back = ["--reset-offsets", "--to-earliest", "--execute", "--topic", postcards]
lab.cluster.tool("kafka-consumer-groups", "--group", collectors, *back)
collector = lab.consumer({"group.id": collectors})
collector.subscribe([postcards])
again = collector.consume(10, timeout=10)

# %% tags=["nbval-check-output"]
lab.check.read_again(collectors, first, again, collector)

# %% [markdown] explains="lag, --reset-offsets"
# There are other ways back: `consumer.seek()` while it reads, or, when all consumers of the group are closed, Kafka's tool `kafka-consumer-groups` with `--reset-offsets --to-earliest --execute`.
#
# The same tool shows what a group has committed: for each partition the offset that comes next for the group, the end of the log, and the difference, the **lag**.

# %%
table = lab.cluster.tool("kafka-consumer-groups", "--describe", "--group", lab.group("reports"))
print("\n".join(line[:80] for line in table.splitlines()))

# %% [markdown] covers="A030 B046 B049 B050"
# ### The same from the command line
#
# Kafka comes with tools for a terminal. `lab.cluster.tool` runs one of them on this machine and adds the brokers' addresses. In a terminal the last line would be `kafka-topics.sh --bootstrap-server localhost:9092 --list`.
#
# Older texts start a second system first, ZooKeeper, and give the tools `--zookeeper`. Kafka 4 has neither.

# %%
lab.delete_topic("my-topic")
print(lab.cluster.tool("kafka-topics", "--create", "--topic", lab.topic("my-topic"), "--partitions", "13"))
print(lab.cluster.tool("kafka-topics", "--describe", "--topic", hello).expandtabs(1))
print(lab.cluster.tool("kafka-topics", "--list"))

# %% [markdown] covers="A035 E230" explains="__consumer_offsets, console producer"
# In the second answer, *Isr* are the replicas in sync, and *Elr* others that may lead without a loss; lab 03 explains both. In the list, `__consumer_offsets` is Kafka's own topic: the groups' committed offsets are records too. `--exclude-internal` leaves it out.
#
# The console producer sends each line that you type as a record, until Ctrl-C or the end of the input. Here `parse.key=true` makes it split each line into a key and a value.

# %%
typed = "anna:hello from the console\nbao:hello too\n"
keyed = ["--reader-property", "parse.key=true", "--reader-property", "key.separator=:"]
print(lab.cluster.tool("kafka-console-producer", "--topic", hello, *keyed, typed=typed), end="")

# %% [markdown] covers="A036 E232 E233 E234 E235" explains="console consumer"
# The console consumer begins at the end, as a new group does. `--from-beginning` is its `earliest`, `--max-messages` and `--timeout-ms` end it, and each `print.…=true` shows one more part of a record. For a topic that does not exist it shows no record. In a terminal a warning and a time-out come, too: on standard error, which this page does not show.

# %%
shown = [f"--formatter-property=print.{part}=true" for part in ("partition", "offset", "key")]
options = ["--from-beginning", "--max-messages", "13", "--timeout-ms", "10000", *shown]
print(lab.cluster.tool("kafka-console-consumer", "--topic", hello, *options))
options = ["--from-beginning", "--timeout-ms", "3000"]
print("helo:", lab.cluster.tool("kafka-console-consumer", "--topic", "helo", *options))

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
# ### What they speak
#
# Client and broker speak a protocol of Kafka's own, over TCP. Each kind of request has a number and versions, and client and broker agree on one that both know. So clients and brokers need not be of the same age; but Kafka 4 has given up the oldest versions, and clients of before Kafka 2.1 cannot talk to it (KIP-896; a KIP is a numbered proposal for Kafka). This tool lists what a broker understands: of `Fetch`, for example, no version below 4.

# %%
versions = lab.cluster.tool("kafka-broker-api-versions").splitlines()
print("\n".join(versions[:8]), "\n\t…")

# %% [markdown] covers="B077" explains="librdkafka, message.timeout.ms, delivery.timeout.ms, max.block.ms, metadata.max.age.ms"
# ### The same in Java
#
# The Python client is a cover of the C library **librdkafka**. Kafka's own client is in Java (`org.apache.kafka:kafka-clients`, for Maven or Gradle). What you have learned holds for both, but some names and defaults differ.
#
# | librdkafka, Python | Java | |
# |---|---|---|
# | `produce(…, on_delivery=)`, called inside `poll()` and `flush()` | `send(record, callback)`, called by the producer's own thread; it also returns a future | |
# | `message.timeout.ms`, or `delivery.timeout.ms` | `delivery.timeout.ms` | a record's report comes after so long at the latest: 5 minutes; Java: 2 |
# | `topic.metadata.propagation.max.ms` | `max.block.ms` | an unknown topic: 30 s in the background; Java: `send()` itself waits up to 60 s |
# | `queue.buffering.max.messages`, `queue.buffering.max.kbytes` | `buffer.memory` | a full queue: `BufferError` at once; Java: `send()` waits up to `max.block.ms` |
# | `topic.metadata.refresh.interval.ms` | `metadata.max.age.ms` | metadata is asked for again after 5 minutes, in both |
# | `enable.idempotence` | the same | off; Java: on |
# | `isolation.level` | the same | `read_committed`; Java: `read_uncommitted` |
# | `poll()` returns one record, `consume(n)` several | `poll()` returns several (`max.poll.records`) | |

# %% [markdown]
# Compare with [the solution](../solutions/01_hello_kafka.ipynb), then go on to [lab 02: what is a topic made of?](02_the_log.ipynb)
