# %% [markdown]
# # What does a replica protect you from?
#
# **You will** create a topic that survives the death of a broker, say in advance what its partitions will do, and see a write refused for a good reason.
#
# *40 minutes. You need nothing but this page.*

# %%
from threebrokers import open_lab

lab = open_lab("03")

# %% [markdown] covers="B056 A033 B033 D107"
# ## One log, three replicas
#
# A partition is one log. With `replication_factor=3` Kafka keeps that log three times, on three brokers. Each of the three is a **replica**. One replica is the **leader**: programs write to it. The others are **followers**: they copy what the leader has. The replicas that keep up with the leader, and the leader itself, are the **in-sync replicas**, in short the **ISR**.
#
# Here is a topic with 13 partitions and three replicas of each.

# %%
failsafe = lab.fresh_topic("failsafe", partitions=13, replication_factor=3)
lab.watch(failsafe)

# %% [markdown] covers="A031 B063"
# The panel shows the real brokers and goes on showing them while you read. You may press its buttons; before you go on, start again what you have ended. (*Kill* is a crash: no time for a last word. *Stop* shuts a broker down in order. *Pause* freezes it: the process is there and answers nobody.)
#
# Kafka's own tool says the same in words. `Leader`, `Replicas` and `Isr` are numbers of brokers. `Elr` comes later.

# %%
print(lab.cluster.tool("kafka-topics", "--describe", "--topic", failsafe))

# %% [markdown] covers="A029 B064 D126 D127"
# Who decides where the replicas are? The active controller, when the topic is made. Let us count, and make three smaller topics.

# %%
from collections import Counter

partitions = lab.cluster.state([failsafe]).topic(failsafe).partitions
leads = Counter(p.leader for p in partitions)
replicas = Counter(broker for p in partitions for broker in p.replicas)
for broker in lab.cluster.brokers:
    print(f"broker {broker} leads {leads[broker]} partitions and holds {replicas[broker]} replicas")
lab.observed("The leaders were spread as evenly as 13 can be", sorted(leads.values()) == [4, 4, 5])

for name, count in [("small-a", 3), ("small-b", 5), ("small-c", 5)]:
    small = lab.fresh_topic(name, partitions=count, replication_factor=2)
    print(name, [p.replicas for p in lab.cluster.state([small]).topic(small).partitions])

# %% [markdown]
# The first of the replicas is the **preferred leader**. It goes round from broker to broker, so the work is spread, and it starts at a random broker, so that not every topic begins with broker 1. The followers come after it at a shift that changes. Two replicas of a partition are never on one broker: that would protect from nothing. With three partitions each broker leads one; with 13 one broker leads five, and which one is chance.
#
# The picture of the last topic:

# %%
from threebrokers.diagrams import topic_picture

topic_picture(lab.cluster.state([small]).topic(small))

# %% [markdown] covers="B057 B058"
# A program need not know all brokers. The consumer below is given two addresses, the producer two others. Each asks one of them, learns of all three, and then talks to the leader of each partition.

# %%
one, two, three = (lab.cluster.address(broker) for broker in lab.cluster.brokers)
start = {"auto.offset.reset": "earliest", "bootstrap.servers": f"{three},{one}"}
consumer = lab.consumer({"group.id": lab.group("greetings"), **start})
consumer.subscribe([failsafe])
producer = lab.producer({"bootstrap.servers": f"{one},{two}"})
for greeting in ["hello", "bonjour", "hallo", "hola"]:
    producer.produce(failsafe, greeting)
left = producer.flush()

got = []
while len(got) < 4:
    got += [message.value().decode() for message in consumer.consume(4, timeout=0.5)]
consumer.close()
print(got)
lab.observed("All four greetings arrived", sorted(got) == ["bonjour", "hallo", "hello", "hola"])

# %% [markdown] covers="A040 B123 D109"
# What is copied is a partition, batch by batch. A follower does it as a consumer does: it sends a fetch request with the offset that it wants next. So the leader knows from the request how far each follower is. Here are the files of one partition on the three brokers.

# %%
p = next(p.id for p in partitions if lab.cluster.segments(failsafe, p.id)[0].stat().st_size)


def files():
    return [lab.cluster.segments(failsafe, p, broker)[0] for broker in lab.cluster.brokers]


lab.wait_until(lambda: len({f.stat().st_size for f in files()}) == 1, what="the last replica to be complete")
paths = ",".join(str(path) for path in files())
dumps = lab.cluster.tool("kafka-dump-log", "--files", paths).split("Dumping ")[1:]
batches = [[line for line in dump.splitlines() if line.startswith("baseOffset")] for dump in dumps]
for broker, lines in zip(lab.cluster.brokers, batches, strict=True):
    print(f"broker {broker}, directory {files()[broker - 1].parent.name}:")
    print(*(line.partition(" baseSequence")[0] for line in lines), sep="\n")
lab.observed("The three replicas had the same batches", batches[0] == batches[1] == batches[2])

# %% [markdown] covers="A007 D110 E108 B127"
# ## What you get without asking
#
# People say that Kafka keeps your data safe by default. Let us read the defaults. The last column is what production has; your three brokers differ where a lab would be slow.

# %%
import pandas as pd
from confluent_kafka.admin import ConfigResource, ResourceType

from threebrokers.cluster.settings import TABLE

names = ["default.replication.factor", "min.insync.replicas", "unclean.leader.election.enable"]
names += ["replica.lag.time.max.ms", "broker.session.timeout.ms", "num.replica.fetchers"]
names += ["auto.leader.rebalance.enable", "leader.imbalance.check.interval.seconds"]
admin = lab.cluster.admin()
asked = ConfigResource(ResourceType.BROKER, "1")
told = admin.describe_configs([asked], request_timeout=10)[asked].result()
changed = {setting.name: setting.default for setting in TABLE}
rows = {name: [told[name].value, changed.get(name, told[name].value)] for name in names}
pd.DataFrame(rows, index=["here", "Kafka's default"]).T

# %% [markdown] covers="A032"
# - `default.replication.factor` is 1. A topic made without a number has **one** replica: nothing is safe by default.
# - A follower is **out of sync** if it did not reach the leader's end within `replica.lag.time.max.ms`. It is not enough to fetch: it must reach the end once in that time. The default was 10 s in old books, and is 30 s since Kafka 2.5, because replicas that left and came back all the time did more harm than slow ones.
# - A broker that sends no heartbeat for `broker.session.timeout.ms` is taken out of every ISR at once. (Old books name a session with ZooKeeper, which is gone.)
# - `min.insync.replicas` says how many replicas must be in sync before a write with `acks=all` is accepted. `acks=all` is what a producer asks for by default: an answer when all in-sync replicas have the record.

# %% [markdown]
# ### Exercise 3.1: Survive one broker
#
# Create the topic `orders` with 13 partitions. Any one broker may die, and a producer that waits for all in-sync replicas must still be able to write. And no order may be acknowledged that only one broker has.

# %%
# TODO: make the topic `orders`: how many replicas, and how many of them must a write reach?
# BEGIN SOLUTION
orders = lab.fresh_topic("orders", partitions=13, replication_factor=3, config={"min.insync.replicas": "2"})
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# How many replicas are left when one broker is gone? And how many in-sync replicas does a write ask for?
#
# </details>
# <details><summary>Another hint</summary>
#
# `replication_factor` is given when the topic is made; `min.insync.replicas` is a setting of the topic, given as text in `config={…}`.
#
# </details>

# %% tags=["wrong"]
# one replica | 'orders' keeps 1 replica of each partition
orders = lab.fresh_topic("orders", partitions=13, replication_factor=1)

# %% tags=["wrong"]
# two replicas, and both must answer | 'orders' keeps 2 replicas of each partition
orders = lab.fresh_topic("orders", partitions=13, replication_factor=2, config={"min.insync.replicas": "2"})

# %% tags=["wrong"]
# every replica must answer | min.insync.replicas is 3 of 3 replicas
orders = lab.fresh_topic("orders", partitions=13, replication_factor=3, config={"min.insync.replicas": "3"})

# %% tags=["wrong"]
# one replica is enough: the default | min.insync.replicas is 1
orders = lab.fresh_topic("orders", partitions=13, replication_factor=3)

# %% tags=["wrong"]
# forgets the partitions | 'orders' has 1 partition
orders = lab.fresh_topic("orders", replication_factor=3, config={"min.insync.replicas": "2"})

# %% tags=["nbval-check-output"]
lab.check.survives_one_broker(orders)

# %% [markdown]
# ## Broker 2 dies
#
# `failsafe` is made again, and now asks for two replicas in sync, as your `orders` do. The other topics are for the next exercises: they must be there before the broker dies.

# %%
from threebrokers.lab.scenarios import take_down


def fresh(name, partitions, replicas, least):
    config = {"min.insync.replicas": str(least)}
    return lab.fresh_topic(name, partitions=partitions, replication_factor=replicas, config=config)


lab.cluster.wait_in_sync()  # starts what is missing, and waits until all replicas are in sync
failsafe = fresh("failsafe", partitions=13, replicas=3, least=2)
thumbnails = fresh("thumbnails", partitions=3, replicas=1, least=1)
baskets = fresh("baskets", partitions=3, replicas=2, least=2)
stock = fresh("stock", partitions=6, replicas=3, least=2)
clicks = fresh("clicks", partitions=1, replicas=3, least=1)
invoices = fresh("invoices", partitions=1, replicas=3, least=2)
payments = fresh("payments", partitions=1, replicas=3, least=3)
work = fresh("work", partitions=13, replicas=3, least=2)
films = fresh("films", partitions=1, replicas=3, least=2)

before = lab.cluster.state([failsafe]).topic(failsafe).partitions
print("Broker 2 leads the partitions", [p.id for p in before if p.leader == 2])

# %% [markdown] covers="B034"
# Choose before you look.

# %%
leaders = lab.predict(
    "Broker 2 dies. Which of the 13 partitions get another leader?",
    {
        "all 13": "Every partition has a replica on broker 2, but losing a follower needs no new leader.",
        "those that broker 2 leads": "A leader must live; the other partitions lose a follower only.",
        "none": "A partition does not wait for its leader: a replica that is in sync takes over.",
    },
    id="3.a",
)
# TODO: choose an answer: press its button
# BEGIN SOLUTION
leaders.choose("those that broker 2 leads")
# END SOLUTION

# %%
members = lab.predict(
    "What is the ISR of each partition afterwards?",
    {
        "brokers 1, 2 and 3": "Replicas stay as they are; but the ISR holds only those that keep up.",
        "brokers 1 and 3": "Broker 2 had a replica of every partition, and none of these can keep up now.",
        "only the new leader": "The other follower goes on, now from the new leader, and is in sync.",
    },
    id="3.b",
)
# TODO: choose an answer: press its button
# BEGIN SOLUTION
members.choose("brokers 1 and 3")
# END SOLUTION

# %% [markdown]
# Now broker 2 crashes. `take_down` kills it and waits until the others have noticed.

# %%
take_down(lab, 2, [failsafe])

after = lab.cluster.state([failsafe]).topic(failsafe).partitions
moved = [p.id for p, q in zip(before, after, strict=True) if p.leader != q.leader]
print("Another leader now:", moved)
led = [p.id for p in before if p.leader == 2]
leaders.compare("those that broker 2 leads" if moved == led else f"{len(moved)} partitions")
isr = {p.isr for p in after}
members.compare("brokers 1 and 3" if isr == {(1, 3)} else f"{isr}")

# %% [markdown] covers="D111"
# Look at the panel, too. Three words are used for partitions in such a state:
#
# - **under-replicated**: fewer replicas in sync than there are replicas;
# - **under min ISR**: fewer replicas in sync than `min.insync.replicas`: nothing can be written with `acks=all`;
# - **offline**: there is no leader: nothing can be written or read.
#
# Only a replica that was in sync may become leader: it has all that was acknowledged. (Lab 04 shows the exception, and what it costs.)

# %% [markdown]
# ### Exercise 3.2: Count the damage
#
# Broker 2 is away. The dictionary `least` has three topics and the `min.insync.replicas` of each. How many of their 12 partitions are `under_replicated`, how many `under_min_isr`, how many `offline`? Take the three numbers from the cluster's metadata.

# %%
least = {thumbnails: 1, baskets: 2, stock: 2}
take_down(lab, 2, least)
found = lab.cluster.state(list(least))
# TODO: count `under_replicated`, `under_min_isr` and `offline`; look at what `found` holds
# BEGIN SOLUTION
partitions = [p for topic in found.topics for p in topic.partitions]
under_replicated = sum(len(p.isr) < len(p.replicas) for p in partitions)
under_min_isr = sum(len(p.isr) < least[p.topic] for p in partitions)
offline = sum(p.leader is None for p in partitions)
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Each of the three words is a comparison of two things that a partition tells of itself. Which ones? And what is the ISR of a partition whose only replica is gone?
#
# </details>
# <details><summary>Another hint</summary>
#
# `found.topics` is a list; each topic has `.partitions`; each of those has `.topic`, `.leader` (None if there is none), `.replicas` and `.isr`.
#
# </details>

# %% tags=["wrong"]
# counts offline | lost their last replica, or their leader
partitions = [p for topic in found.topics for p in topic.partitions]
under_replicated = under_min_isr = offline = sum(p.leader is None for p in partitions)

# %% tags=["wrong"]
# counts replicas | is the number of replicas of these partitions
partitions = [p for topic in found.topics for p in topic.partitions]
under_replicated = sum(len(p.replicas) for p in partitions if len(p.isr) < len(p.replicas))
under_min_isr = sum(len(p.isr) < least[p.topic] for p in partitions)
offline = sum(p.leader is None for p in partitions)

# %% tags=["wrong"]
# counts topics | is the number of topics
under_replicated = sum(any(len(p.isr) < len(p.replicas) for p in t.partitions) for t in found.topics)
under_min_isr = sum(any(len(p.isr) < least[p.topic] for p in t.partitions) for t in found.topics)
offline = sum(any(p.leader is None for p in t.partitions) for t in found.topics)

# %% tags=["wrong"]
# only those that it led | of which broker 2 was the preferred leader
partitions = [p for topic in found.topics for p in topic.partitions]
under_replicated = sum(p.replicas[0] == 2 for p in partitions)
under_min_isr = sum(len(p.isr) < least[p.topic] for p in partitions)
offline = sum(p.leader is None for p in partitions)

# %% tags=["wrong"]
# at the minimum is taken for under it | at the minimum or under it
partitions = [p for topic in found.topics for p in topic.partitions]
under_replicated = sum(len(p.isr) < len(p.replicas) for p in partitions)
under_min_isr = sum(len(p.isr) <= least[p.topic] for p in partitions)
offline = sum(p.leader is None for p in partitions)

# %% tags=["wrong"]
# everything on broker 2 is offline | have a replica on broker 2
partitions = [p for topic in found.topics for p in topic.partitions]
under_replicated = sum(len(p.isr) < len(p.replicas) for p in partitions)
under_min_isr = sum(len(p.isr) < least[p.topic] for p in partitions)
offline = sum(2 in p.replicas for p in partitions)

# %% tags=["nbval-check-output"]
lab.check.damage_counted(under_replicated, under_min_isr, offline)

# %% [markdown]
# Kafka's tool counts the same way, over all topics. These are the lines of yours that are under min ISR; with `--under-replicated-partitions`, `--at-min-isr-partitions` and `--unavailable-partitions` it shows the others.

# %%
lines = lab.cluster.tool("kafka-topics", "--describe", "--under-min-isr-partitions").splitlines()
print(*(line.strip() for line in lines if line.strip() and line.split()[1] in least), sep="\n")

# %% [markdown]
# And writing goes on, although 13 partitions of `failsafe` have lost a replica.

# %%
producer = lab.producer({"acks": "all", "message.timeout.ms": 5000})
errors = []
for number in range(1000):
    producer.produce(
        failsafe, f"while broker 2 was away: {number}", on_delivery=lambda e, m: errors.append(e)
    )
left = producer.flush()
lab.observed("1,000 records were acknowledged by two replicas each", errors == [None] * 1000)

# %% [markdown]
# ### Exercise 3.3: Have a write refused
#
# Broker 2 is still away. Three topics have three replicas each, and `min.insync.replicas` is 1 for `clicks`, 2 for `invoices` and 3 for `payments`. Send one record and have it refused with `NOT_ENOUGH_REPLICAS`: the list `errors` must end with this error. Keep the `producer`. And say `why` the leader refuses, with one of these words.
#
# - `"full"`: the two brokers that are left have too much to do.
# - `"leader"`: the partition has no leader.
# - `"promise"`: it could not keep the promise that the topic makes, and says so before it stores anything.
# - `"lost"`: it has stored the record, and then lost it.

# %%
take_down(lab, 2, [clicks, invoices, payments])
errors = []
patience = {"request.timeout.ms": 1000, "message.timeout.ms": 2000}
patience["on_delivery"] = lambda error, message: errors.append(error)
# TODO: make a `producer` ({**patience, …}), send a record that is refused, say `why`
# BEGIN SOLUTION
producer = lab.producer({**patience, "acks": "all", "retries": 0})
producer.produce(payments, "pay 100 euro to Anna")
producer.flush()
why = "promise"
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# How many replicas are in sync now, and which of the topics asks for more? Does every producer care about that? And if a refused producer simply tries again, which error do you see at the end?
#
# </details>
# <details><summary>Another hint</summary>
#
# `acks` says what the producer waits for. `retries` says how often it tries again before it tells you; unless told it tries until `message.timeout.ms` is over.
#
# </details>

# %% tags=["wrong"]
# wrong error: it tries again until its time is over | the producer's own time was over
producer = lab.producer({**patience, "acks": "all"})
producer.produce(payments, "pay 100 euro to Anna")
producer.flush()
why = "promise"

# %% tags=["wrong"]
# acks=1 | because the producer asked for the leader alone
producer = lab.producer({**patience, "acks": 1, "retries": 0})
producer.produce(payments, "pay 100 euro to Anna")
producer.flush()
why = "promise"

# %% tags=["wrong"]
# a topic that is content with two replicas | which is content with 2 replicas
producer = lab.producer({**patience, "acks": "all", "retries": 0})
producer.produce(invoices, "invoice 1")
producer.flush()
why = "promise"

# %% tags=["wrong"]
# broker still up | all three replicas were in sync
lab.cluster.wait_in_sync([clicks, invoices, payments])
producer = lab.producer({**patience, "acks": "all", "retries": 0})
producer.produce(payments, "pay 100 euro to Anna")
producer.flush()
why = "promise"

# %% tags=["wrong"]
# takes it for a fault: no leader | the leader itself has answered
producer = lab.producer({**patience, "acks": "all", "retries": 0})
producer.produce(payments, "pay 100 euro to Anna")
producer.flush()
why = "leader"

# %% tags=["wrong"]
# takes it for a loss | was never stored
producer = lab.producer({**patience, "acks": "all", "retries": 0})
producer.produce(payments, "pay 100 euro to Anna")
producer.flush()
why = "lost"

# %% tags=["wrong"]
# takes it for overload | have little to do
producer = lab.producer({**patience, "acks": "all", "retries": 0})
producer.produce(payments, "pay 100 euro to Anna")
producer.flush()
why = "full"

# %% tags=["nbval-check-output"]
lab.check.write_refused(producer, errors, why)

# %% [markdown] covers="E223"
# If the replicas get too few *while* a record waits for them, it has been stored already. Kafka has the error `NOT_ENOUGH_REPLICAS_AFTER_APPEND` for that; a Kafka of today rather lets such a write wait until its time is over.
#
# Since Kafka 4.1 the active controller also remembers who else is safe: the **eligible leader replicas** (ELR). When the ISR is smaller than `min.insync.replicas`, nothing more is acknowledged, so the replica that has left last still has everything that was. It may be elected like a member of the ISR. `payments` has such a replica, `invoices` does not: there, writing has gone on without broker 2.

# %%
told = lab.cluster.tool("kafka-topics", "--describe", "--topic", f"{payments}|{invoices}")
lines = [line.strip() for line in told.splitlines() if "Elr" in line]
print(*lines, sep="\n")
lab.observed("One replica was kept as eligible to lead", sum("Elr: 2" in line for line in lines) == 1)

# %% [markdown]
# Whoever lowers `min.insync.replicas` in such a state makes the topic writable again, and clears its ELR: from then on the replica that is away is not safe any more. Better bring the broker back.

# %% [markdown] covers="B084 E103"
# ## It comes back
#
# While broker 2 is away, ten megabytes of `films` are written. Broker 2 would fetch them at once, so the cell slows it down: Kafka can *throttle* replication, so that a broker that returns does not take the whole network. (At 100 KB in a second it needs its time.) Then the broker starts.

# %%
take_down(lab, 2, [films])
producer = lab.producer({"acks": "all"})
for _ in range(1000):
    producer.produce(films, b"x" * 10_000)
left = producer.flush()

change = ["kafka-configs", "--alter", "--entity-type"]
every_replica, rate = "leader.replication.throttled.replicas", "leader.replication.throttled.rate"
told = lab.cluster.tool(*change, "topics", "--entity-name", films, "--add-config", f"{every_replica}=*")
told = lab.cluster.tool(*change, "brokers", "--entity-default", "--add-config", f"{rate}=100000")
lab.cluster.start(2)


def look():
    return lab.cluster.state([films]).topic(films).partitions[0]


lab.wait_until(lambda: dict(look().log_end_offsets).get(2), what="broker 2 to fetch")
seen = look()
for broker, end in seen.log_end_offsets:
    print(
        f"broker {broker} holds {end:,} records of {seen.log_end_offset:,}", "in sync" * (broker in seen.isr)
    )
lab.observed("Broker 2 fetched again, and was not in sync", 2 not in seen.isr)

# %% [markdown]
# This is what *out of sync* means: not silent, only behind. The distance between the leader's end and a replica's end is its **lag**. (An old course starts `kafka-replica-verification` to see it; that tool is deprecated. Watch under-replicated partitions instead.) Now the throttle is taken away.

# %%
told = lab.cluster.tool(*change, "brokers", "--entity-default", "--delete-config", rate)
lab.cluster.wait_in_sync([films, failsafe])
seen = look()
for broker, end in seen.log_end_offsets:
    print(
        f"broker {broker} holds {end:,} records of {seen.log_end_offset:,}", "in sync" * (broker in seen.isr)
    )
lab.observed("The replica reached the end and was in sync again", set(seen.isr) == {1, 2, 3})

# %% [markdown] covers="B127 E021"
# All replicas are back. And the leaders?

# %%
partitions = lab.cluster.state([failsafe]).topic(failsafe).partitions
leads = Counter(p.leader for p in partitions)
first = Counter(p.replicas[0] for p in partitions)
for broker in lab.cluster.brokers:
    print(f"broker {broker} leads {leads[broker]} partitions, and should lead {first[broker]}")
lab.observed("Broker 2 came back and led nothing", leads[2] == 0)

# %% [markdown]
# Broker 2 holds everything and does nothing but follow, and the other two do its work. In production the active controller looks every 300 s (`leader.imbalance.check.interval.seconds`) and moves leadership back, because `auto.leader.rebalance.enable` is true. Here it is false, so that you can do it yourself.

# %% [markdown] covers="D112"
# ### Exercise 3.4: Put leadership back
#
# In the topic `work` broker 2 has been away and leads nothing. Make the preferred replica, the first in the list of each partition, its leader again, for all 13 partitions. Ask Kafka to elect it; keep what the call returns as `elected`, a dictionary with an entry for each partition.

# %%
from confluent_kafka import ElectionType, TopicPartition

from threebrokers.lab.scenarios import unbalanced_topic

work = unbalanced_topic(lab, "work", broker=2)
admin = lab.cluster.admin()
# TODO: elect the preferred leaders of `work`, and keep the result as `elected`
# BEGIN SOLUTION
everyone = [TopicPartition(work, partition) for partition in range(13)]
elected = admin.elect_leaders(ElectionType.PREFERRED, everyone).result()
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Nothing has to be copied or restarted: all replicas are in sync. Who holds an election in Kafka, and who may ask for one? Which kind of leader do you want?
#
# </details>
# <details><summary>Another hint</summary>
#
# `AdminClient.elect_leaders` takes a kind (see `ElectionType`) and a list of `TopicPartition`. It returns a future; `.result()` waits for it.
#
# </details>

# %% tags=["wrong"]
# only one partition | 1 of the partitions that broker 2 should lead
mine = next(p.id for p in lab.cluster.state([work]).topic(work).partitions if p.replicas[0] == 2)
elected = admin.elect_leaders(ElectionType.PREFERRED, [TopicPartition(work, mine)]).result()

# %% tags=["wrong"]
# moved by hand | the order of the replicas has been changed
import json
import tempfile

now = lab.cluster.state([work]).topic(work).partitions
plan = [
    {"topic": work, "partition": p.id, "replicas": sorted(p.replicas, key=lambda b, p=p: b != p.leader)}
    for p in now
]
with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
    json.dump({"version": 1, "partitions": plan}, file)
    file.flush()
    lab.cluster.tool("kafka-reassign-partitions", "--execute", "--reassignment-json-file", file.name)
elected = {}

# %% tags=["wrong"]
# restarted the broker instead | broker 2 leads none of
lab.cluster.stop(2)
lab.cluster.wait_in_sync([work])
elected = {}

# %% tags=["nbval-check-output"]
lab.check.leadership_back(work, elected)

# %% [markdown]
# `None` in the result means: this partition has a new leader. `ELECTION_NOT_NEEDED` means that it had the right one already. The exchange takes a few milliseconds, and no record is lost: the preferred replica was in sync.

# %% [markdown] covers="B128 D147"
# ## How many may leave?
#
# Now we try every choice: six topics, three partitions each, from one replica to three. Two brokers are going to be stopped, one after the other. Each time we send one record to every partition with `acks=all` and count how many are accepted.

# %%
from threebrokers.lab.scenarios import accepted

choices = {}
for count in [1, 2, 3]:
    for least in range(1, count + 1):
        topic = lab.fresh_topic(
            f"replicas-{count}-least-{least}",
            partitions=3,
            replication_factor=count,
            config={"min.insync.replicas": str(least)},
        )
        choices[topic] = f"{count} replicas, {least} must be in sync"

found = {"all brokers up": accepted(lab, choices)}
found["all brokers up"].total()

# %%
guess = lab.predict(
    "Three replicas, and two must be in sync. Two of the three brokers are gone. "
    "How many of the 3 partitions accept the record?",
    {
        "3": "One replica is left and could take the record, but then only one broker would have it.",
        "1": "Every partition has a replica on every broker, so all three are in the same position.",
        "0": "One replica in sync is fewer than two, so each partition refuses to write.",
    },
    id="3.c",
)
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess.choose("0")
# END SOLUTION

# %% [markdown]
# When the second broker is stopped, the **quorum** is gone too: our brokers are also the controllers, and one of three controllers can decide nothing (lab 04). So the lab wants to hear `force=True`. What was decided before stays.

# %%
from threebrokers.kafka.log_reader import read_log

lab.cluster.stop(3)
found["one is gone"] = accepted(lab, choices)
lab.cluster.stop(2, force=True)
found["two are gone"] = accepted(lab, choices)

strong = lab.topic("replicas-3-least-2")
guess.compare(found["two are gone"][strong])
records = read_log(lab.bootstrap, strong)
table = pd.DataFrame({when: [count[topic] for topic in choices] for when, count in found.items()})
table.index = list(choices.values())
table

# %% [markdown] covers="B134 D150 D154 B132 E025 E104"
# Each number is *how many of three partitions* took the record. Read the table line by line.
#
# - **One replica**: a partition is on one disk, and nobody can use it without its broker. It has no leader then; the tool prints `Leader: none`.
# - **Two replicas** survive one loss, if one replica in sync is enough. If both must be in sync, they are worse than one replica for writing: two brokers have to be there instead of one.
# - **Three replicas, one must be in sync**: accepts to the end. But the last records are on one disk only. Slides say "three replicas tolerate three failures". It is two, and only with this setting, and then nothing may happen to the last one.
# - **Three replicas, two must be in sync**: the usual choice. One broker may leave and all goes on. When two are gone, nothing can be written. Durability is above availability here.
# - **Three of three**: the first loss, or one restart for an update, stops all writing.
#
# So `replication_factor` should be `min.insync.replicas` plus one: then brokers can be restarted one after the other, and writing never stops. With plus two a broker may even fail during such a restart.
#
# And reading? It went on, from the replica that was left.

# %%
print(len(records), "records were read with two brokers gone")
rules = [[3, 2, 1], [3, 3, 2], [3, 1, 0], [3, 3, 3], [3, 3, 0], [3, 0, 0]]
lab.observed("Every number of the table was what the rules say", table.values.tolist() == rules)
lab.observed("What was accepted before could still be read", len(records) >= 6)

# %%
lab.cluster.wait_in_sync()  # starts what is missing, and waits until all replicas are in sync

# %% [markdown] covers="B032 B042 D124"
# ## Stored, and not yet readable
#
# A record that only the leader has could be lost with the leader. If a reader had seen it, that reader would have acted on something that never was. So readers see a record only when **all in-sync replicas** have it. (Books call such a record *committed*. In this course that word is for offsets and transactions.) There are two ends of a log:
#
# - the **log end offset** (LEO) is the offset that the next record of this replica will get; every replica has its own;
# - the **high watermark** is the offset up to which all in-sync replicas have the log. A reader may read the records *before* it. `get_watermark_offsets` returns this one.
#
# Books say "the offset of the last record". It is the one after it, for both.
#
# What if one follower in sync stands still?

# %% [markdown]
# **Predict** what a frozen follower does to everybody else.

# %%
guess = lab.predict(
    "A follower that is in sync freezes. When is the next record with acks=all acknowledged?",
    {
        "at once": "The frozen follower is still a member of the ISR, and acks=all waits for every member.",
        "after some seconds": "It waits until the frozen follower is expelled from the ISR; then two are enough.",
        "when the follower is back": "Nobody waits for ever: who is silent too long is expelled from the ISR.",
    },
    id="3.d",
)
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess.choose("after some seconds")
# END SOLUTION

# %%
from threebrokers.lab.scenarios import send_and_read

slow = lab.fresh_topic("slow", replication_factor=3, config={"min.insync.replicas": "2"})
producer = lab.producer({"acks": "all", "linger.ms": 0})
consumer = lab.consumer({"group.id": lab.group("slow"), "enable.auto.commit": False})
consumer.assign([TopicPartition(slow, 0, 0)])

rows = [send_and_read(lab, producer, consumer, slow) for _ in range(4)]
follower = lab.cluster.state([slow]).topic(slow).partitions[0]
follower = next(broker for broker in follower.replicas if broker != follower.leader)
lab.cluster.pause(follower)
rows += [send_and_read(lab, producer, consumer, slow) for _ in range(4)]
lab.cluster.resume(follower)
consumer.close()

waited = rows[4]["acknowledged"]
guess.compare(
    "at once" if waited < 500 else "after some seconds" if waited < 10_000 else "when the follower is back"
)
pd.DataFrame(rows, index=[*["all well"] * 4, *["one follower frozen"] * 4])

# %% [markdown] covers="D125 D148"
# The times are in milliseconds. (The first record pays for the connections.) One slow follower made everybody wait: the writer for its acknowledgement, and the reader for the record, which was on the leader's disk all the time. Then the follower was expelled, everything was fast again, **and one replica fewer is safe**. That is the trade: `replica.lag.time.max.ms`, or here the shorter session of a dead broker, says how long all wait for one.

# %%
usual = sorted(row["acknowledged"] for row in rows[-3:])[1]
lab.observed("The frozen follower was expelled", len(rows[-1]["ISR"]) == 2)
lab.observed("All waited for it until then, and nobody after that", usual < waited / 2)
lab.cluster.wait_in_sync([slow])

# %% [markdown]
# ### Exercise 3.5: Hide three records
#
# Make the leader of `unseen` store three records that no consumer can read, and leave it so. The topic has one partition, three replicas, and `min.insync.replicas=3`: below that number the high watermark does not move. Then say as numbers the leader's `log_end_offset` and the `high_watermark`; and what the records wait for, `waits_for`, as one of these words.
#
# - `"flush"`: the leader has them in memory only, and must write them to disk first.
# - `"transaction"`: they belong to an open transaction; a reader with `read_uncommitted` sees them.
# - `"consumer"`: a consumer must ask for longer, or begin at the right offset.
# - `"replicas"`: not enough in-sync replicas have them.

# %%
lab.cluster.wait_in_sync()
unseen = lab.fresh_topic("unseen", replication_factor=3, config={"min.insync.replicas": "3"})
partition = lab.cluster.state([unseen]).topic(unseen).partitions[0]
print("leader:", partition.leader, " replicas:", partition.replicas)
# TODO: hide three records; set `log_end_offset`, `high_watermark` and `waits_for`
# BEGIN SOLUTION
follower = next(broker for broker in partition.replicas if broker != partition.leader)
lab.cluster.pause(follower)
producer = lab.producer({"acks": 1})
for word in ["nobody", "sees", "me"]:
    producer.produce(unseen, word)
producer.flush()
seen = lab.cluster.state([unseen]).topic(unseen).partitions[0]
log_end_offset, high_watermark, waits_for = seen.log_end_offset, seen.high_watermark, "replicas"
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Which replicas must have a record before it can be read? What must be true of one of them, and how do you get an answer for your write all the same?
#
# </details>
# <details><summary>Another hint</summary>
#
# `lab.cluster.pause(broker)` freezes a follower; `acks` chooses who must answer the producer. A partition of `lab.cluster.state([topic])` tells its leader's end, the end of each replica (`.log_end_offsets`) and the high watermark. Its names are those of the task.
#
# </details>

# %% tags=["wrong"]
# no follower is held back | everybody can read up to the leader's end
producer = lab.producer({"acks": 1})
for word in ["nobody", "sees", "me"]:
    producer.produce(unseen, word)
producer.flush()
lab.wait_until(
    lambda: lab.cluster.state([unseen]).topic(unseen).partitions[0].high_watermark, what="the followers"
)
log_end_offset, high_watermark, waits_for = 3, 0, "replicas"

# %% tags=["wrong"]
# takes the high watermark for the end | is the high watermark, not the log end offset
lab.cluster.pause(next(broker for broker in partition.replicas if broker != partition.leader))
producer = lab.producer({"acks": 1})
for word in ["nobody", "sees", "me"]:
    producer.produce(unseen, word)
producer.flush()
reader = lab.consumer({"group.id": lab.group("unseen")})
log_end_offset = high_watermark = reader.get_watermark_offsets(TopicPartition(unseen, 0), timeout=10)[1]
waits_for = "replicas"

# %% tags=["wrong"]
# the offset of the last record | is the offset of the last record
lab.cluster.pause(next(broker for broker in partition.replicas if broker != partition.leader))
producer = lab.producer({"acks": 1})
for word in ["nobody", "sees", "me"]:
    producer.produce(unseen, word)
producer.flush()
log_end_offset, high_watermark, waits_for = 2, 0, "replicas"

# %% tags=["wrong"]
# believes that flushing helps | has written it already
lab.cluster.pause(next(broker for broker in partition.replicas if broker != partition.leader))
producer = lab.producer({"acks": 1})
for word in ["nobody", "sees", "me"]:
    producer.produce(unseen, word)
producer.flush()
log_end_offset, high_watermark, waits_for = 3, 0, "flush"

# %% tags=["wrong"]
# believes that read_uncommitted helps | a reader with read_uncommitted
lab.cluster.pause(next(broker for broker in partition.replicas if broker != partition.leader))
producer = lab.producer({"acks": 1})
for word in ["nobody", "sees", "me"]:
    producer.produce(unseen, word)
producer.flush()
log_end_offset, high_watermark, waits_for = 3, 0, "transaction"

# %% tags=["wrong"]
# believes that the consumer must wait or seek | the brokers answer every consumer
lab.cluster.pause(next(broker for broker in partition.replicas if broker != partition.leader))
producer = lab.producer({"acks": 1})
for word in ["nobody", "sees", "me"]:
    producer.produce(unseen, word)
producer.flush()
log_end_offset, high_watermark, waits_for = 3, 0, "consumer"

# %% tags=["nbval-check-output"]
lab.check.records_hidden(log_end_offset, high_watermark, waits_for)

# %% [markdown]
# Let the follower go on, and the records appear without anybody sending them again.

# %%
lab.cluster.wait_in_sync()
print([record.value.decode() for record in read_log(lab.bootstrap, unseen)])

# %% [markdown] covers="B124 D108 E006 E074 D128"
# ## Reading from the nearest replica
#
# *The last three sections only look around. If your time is over, go to "What to remember".*
#
# Books say that followers serve nobody. Writers do need the leader, but since Kafka 2.4 a reader may use a follower that is near. Brokers say in which **rack** they stand (`broker.rack`; in a cloud this is the zone), and a new partition gets its replicas in different racks, so that one broken switch does not take all replicas. A reader says where it stands with `client.rack`. Our brokers are in `rack-1` to `rack-3`, and choose a replica in the reader's rack (`replica.selector.class`). How many bytes come from which broker?

# %%
from threebrokers.lab.scenarios import bytes_by_broker

topic = lab.fresh_topic("nearest", partitions=3, replication_factor=3)
producer = lab.producer({"linger.ms": 20})
for number in range(3000):
    producer.produce(topic, b"x" * 1000, partition=number % 3)
left = producer.flush()

group = {"group.id": lab.group("nearest")}
read = {
    "no rack": bytes_by_broker(lab, topic, 3000, group),
    "rack-2": bytes_by_broker(lab, topic, 3000, {**group, "client.rack": "rack-2"}),
}
lab.observed("The reader in rack-2 got its records from broker 2", read["rack-2"][1] > 3_000_000)
pd.DataFrame(read, index=[f"from broker {broker}" for broker in lab.cluster.brokers])

# %% [markdown]
# Reading inside a zone is quicker, and often cheaper, because traffic between zones costs money. The price: a follower knows the high watermark a moment later than the leader.

# %% [markdown] covers="E105 E104"
# ## What replicas cost
#
# Every replica is written to a disk, and all but the first travel from broker to broker. One megabyte, sent to topics with one, two and three replicas, measured in their files:

# %%
rows = {}
for count in [1, 2, 3]:
    topic = lab.topic(f"replicas-{count}-least-1")
    holders = lab.cluster.state([topic]).topic(topic).partitions[0].replicas

    def sizes(topic=topic, holders=holders):
        return [lab.cluster.segments(topic, 0, broker)[0].stat().st_size for broker in holders]

    before = sizes()[0]
    for _ in range(100):
        producer.produce(topic, b"x" * 10_000, partition=0)
    left = producer.flush()
    lab.wait_until(lambda sizes=sizes: len(set(sizes())) == 1, what="the replicas to be complete")
    sent = (sizes()[0] - before) / 1e6
    rows[f"{count} replicas"] = {"MB on disks": sent * count, "MB between brokers": sent * (count - 1)}
pd.DataFrame(rows).T.round(1)

# %% [markdown]
# So writing 10 MB a second with five replicas makes 40 MB a second between the brokers. More replicas mean: more losses survived, more reading nearby; but more disk, more network, and a longer wait for `acks=all`. Thumbnails that can be computed again live with one replica. Orders get three, two of them in sync. Some banks keep five.

# %% [markdown] covers="E016"
# ## The same three brokers in a compose file
#
# Brokers often run in containers. The file `docker-compose.yml` of this course describes three such brokers for Docker, and `threebrokers up --engine compose` runs the labs on them. You need no Docker to read it. Who reaches a broker, and at which address? Here are the lines that say it; each `KAFKA_…` is a setting of the broker, written in capitals.

# %%
from threebrokers.lab.scenarios import compose_file

text = compose_file()
print("For all three brokers:")
for line in text.splitlines():
    if line.strip().startswith(("KAFKA_LISTENER", "KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR")):
        print(line)
print("For the first:")
print(text[text.index("  kafka-1:\n") : text.index("  kafka-2:\n")])

# %% [markdown]
# - **Listeners** are a broker's doors. Here are three: for clients, for the copying between brokers, and for the controllers. (The names are free; the map says how each is secured, here not at all.) No host stands before the port, so the door opens to all networks of the container, as with `0.0.0.0`.
# - **Advertised listeners** are the addresses that a broker tells others. A client uses the address that you give it only once; after that it connects to the advertised ones. So they must be right *from where the client is*: `127.0.0.1` and the published port (`ports`) for programs on your machine, and a name that only their own network knows for the other brokers. If a container advertises only its inner name, a program outside reaches it once and never again: the most frequent fault of such files.
# - **Internal topics**, such as that of the groups' offsets, get three replicas. Examples with one broker say 1. With three brokers that would mean: whichever dies takes the offsets of some groups with it.

# %% [markdown]
# ## What to remember
#
# - Replicas protect if you ask for them: three replicas and `min.insync.replicas=2` survive any one broker, and refuse a write rather than keep it on one disk.
# - The ISR are the replicas that keep up. Who is out is not waited for, and is not elected; it comes back by catching up.
# - A record is readable when all in-sync replicas have it. Until then it is stored, and hidden.

# %% [markdown]
# ## Quiz
#
# 1. A topic has three replicas and `min.insync.replicas=1`. The producer uses `acks=all`. Can an acknowledged record be on one disk only?
#
# <details><summary>Answer</summary>
#
# Yes. `all` means all that are in sync, and that may be the leader alone. `min.insync.replicas=2` forbids it.
#
# </details>
#
# 2. A colleague sets three replicas and `min.insync.replicas=3`, "to be quite safe". What happens at the next update of the brokers?
#
# <details><summary>Answer</summary>
#
# As each broker is restarted, all writing with `acks=all` stops until it is back in sync. Two of three would have gone on.
#
# </details>
#
# 3. After an outage one broker has 30 % more work than the others, although all replicas are in sync. Why, and what helps?
#
# <details><summary>Answer</summary>
#
# It still leads the partitions that it took over. Elect the preferred leaders, or wait until Kafka does it by itself (every five minutes, unless it is switched off).
#
# </details>
#
# 4. A partition is under-replicated. Is data lost? Can programs write?
#
# <details><summary>Answer</summary>
#
# Nothing is lost, and they can write as long as enough replicas are in sync. But the next loss may stop writing, so find out which broker is missing.
#
# </details>
#
# 5. Do more consumers help a slow group? And what happens to a group when one of its consumers, or a broker, dies?
#
# <details><summary>Answer</summary>
#
# More consumers help up to the number of partitions. If a consumer dies, the others take its partitions (lab 07). If a broker dies, its partitions get new leaders, and the clients find them by themselves (lab 04).
#
# </details>

# %% [markdown]
# Compare with the [solution](../solutions/03_replication.ipynb). Next lab: [What happens in the two seconds after a broker dies?](04_broker_failover.ipynb)
