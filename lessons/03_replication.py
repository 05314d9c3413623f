# %% [markdown]
# # What does a replica protect you from?
#
# **You will** create a topic that survives the death of a broker, say in advance what its partitions will do, and see a write refused for a good reason.
#
# *{minutes} minutes, and {further} more if you go further. You need lab 01: partition, offset, delivery report.*

# %%
from threebrokers import open_lab

lab = open_lab("03")

# %% [markdown]
# Three questions from earlier labs, to see what is still there:

# %%
lab.review()

# %% [markdown] covers="B056 A033" explains="in-sync replicas (ISR)"
# ## One log, three replicas
#
# A partition is one log. With `replication_factor=3` Kafka keeps that log three times, on three brokers. Each of the three is a **replica**. One of them is the **leader**: programs write to it, and usually read from it. The others are **followers**: they copy what the leader has. The leader, and the followers that keep up with it, are the **in-sync replicas**, in short the **ISR**.
#
# Here is a topic with 13 partitions and three replicas of each.

# %%
failsafe = lab.fresh_topic("failsafe", partitions=13, replication_factor=3)
lab.watch(failsafe)

# %% [markdown] covers="A031 A032 B063"
# The panel shows the real brokers, and goes on while you read. You may press its buttons; before you go on, start again what you have ended. *Kill* ends the process at once, as a crash does. *Stop* shuts a broker down in order. *Pause* freezes it: the process is there and answers nobody. (A power cut is another thing: lab 04.)
#
# Kafka's own tool says the same in words. `Leader`, `Replicas` and `Isr` are numbers of brokers. (`Elr` is explained under *Going further*.)

# %%
print(lab.cluster.tool("kafka-topics", "--describe", "--topic", failsafe))

# %% [markdown] covers="A007"
# ## What you get without asking
#
# People say that Kafka keeps your data safe by default. Here are the defaults that decide it, as broker 1 tells them.

# %%
from threebrokers.lab.scenarios import broker_settings

names = ["default.replication.factor", "min.insync.replicas", "unclean.leader.election.enable"]
broker_settings(lab, names)

# %% [markdown] covers="E223" explains="min.insync.replicas"
# - `default.replication.factor` is 1. A topic made without a number has **one** replica: nothing is safe by default.
# - `min.insync.replicas` says how many replicas must be in sync before a write with `acks=all` is accepted. A topic can have a number of its own.
# - `acks=all` is what a producer asks for by default: an answer when all in-sync replicas have the record. With `acks=1` the leader alone answers.
# - `unclean.leader.election.enable` is false: a replica that lacks something may not become leader (lab 04).

# %% [markdown]
# ### Exercise 3.1: Survive one broker
#
# Create the topic `orders` with 13 partitions. Any one broker may die, and a producer with `acks=all` must still be able to write. And no order may be acknowledged that only one broker has. The topic itself must ask for that, not the whole cluster.

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
from threebrokers.lab.scenarios import fresh, take_down

lab.cluster.wait_in_sync()  # starts what is missing, and waits until all replicas are in sync
failsafe = fresh(lab, "failsafe", partitions=13, replicas=3, least=2)  # min.insync.replicas=2
thumbnails = fresh(lab, "thumbnails", partitions=3, replicas=1, least=1)
baskets = fresh(lab, "baskets", partitions=3, replicas=2, least=2)
stock = fresh(lab, "stock", partitions=6, replicas=3, least=2)
clicks = fresh(lab, "clicks", partitions=1, replicas=3, least=1)
invoices = fresh(lab, "invoices", partitions=1, replicas=3, least=2)
payments = fresh(lab, "payments", partitions=1, replicas=3, least=3)
before = lab.cluster.state([failsafe]).topic(failsafe).partitions

# %%
guess_3a = lab.predict("3.a")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_3a.choose("some get another leader, and all 13 lose a replica in sync")
# END SOLUTION

# %% [markdown]
# Now broker 2 crashes. `take_down` kills it and waits until the others have noticed.

# %%
take_down(lab, 2, [failsafe])

after_kill = lab.cluster.state([failsafe]).topic(failsafe).partitions
moved = [p.id for p, q in zip(before, after_kill, strict=True) if p.leader != q.leader]
smaller = [p.id for p in after_kill if len(p.isr) < 3]
print("Another leader:", moved, "\nA smaller ISR: ", smaller)
others = "and all 13 lose a replica in sync" if len(smaller) == 13 else "the others stay as they are"
guess_3a.compare(f"some get another leader, {others}" if len(moved) < 13 else "all 13 get another leader")

# %% [markdown] covers="D111 D147" explains="under-replicated, under min ISR, offline"
# Look at the panel, too. Three words are used for partitions in such a state:
#
# - **under-replicated**: fewer replicas in sync than there are replicas;
# - **under min ISR**: fewer replicas in sync than `min.insync.replicas`: nothing can be written with `acks=all`;
# - **offline**: there is no leader: nothing can be written or read. A replica lives on one broker's disk, so a partition with one replica is offline when that broker dies.
#
# Only a replica that was in sync may become leader: it has all that was acknowledged with `acks=all`. (With `acks=1` a record is acknowledged that nobody but the leader has.)

# %% [markdown]
# ### Exercise 3.2: Count the damage
#
# Broker 2 is away. The dictionary `least_of` has three topics and the `min.insync.replicas` of each. How many of their 12 partitions are `under_replicated`, how many `under_min_isr`, how many `offline`? Take the three numbers from the cluster's metadata, which is what it tells of its topics. A partition can be in more than one of them.

# %%
least_of = {thumbnails: 1, baskets: 2, stock: 2}
take_down(lab, 2, least_of)
found = lab.cluster.state(list(least_of))
# TODO: count `under_replicated`, `under_min_isr` and `offline`; look at what `found` holds
# BEGIN SOLUTION
damaged = [p for topic in found.topics for p in topic.partitions]
under_replicated = sum(len(p.isr) < len(p.replicas) for p in damaged)
under_min_isr = sum(len(p.isr) < least_of[p.topic] for p in damaged)
offline = sum(p.leader is None for p in damaged)
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
# counts offline | that lost their last replica in sync
damaged = [p for topic in found.topics for p in topic.partitions]
under_replicated = under_min_isr = offline = sum(p.leader is None for p in damaged)

# %% tags=["wrong"]
# counts replicas | is the number of replicas of these partitions
damaged = [p for topic in found.topics for p in topic.partitions]
under_replicated = sum(len(p.replicas) for p in damaged if len(p.isr) < len(p.replicas))
under_min_isr = sum(len(p.isr) < least_of[p.topic] for p in damaged)
offline = sum(p.leader is None for p in damaged)

# %% tags=["wrong"]
# counts only what the dead broker led | of which broker 2 was the preferred leader
damaged = [p for topic in found.topics for p in topic.partitions]
under_replicated = sum(p.replicas[0] == 2 for p in damaged)
under_min_isr = sum(len(p.isr) < least_of[p.topic] for p in damaged)
offline = sum(p.leader is None for p in damaged)

# %% tags=["wrong"]
# counts as the brokers' metric does: only partitions with a leader | what the brokers' own metric says
damaged = [p for topic in found.topics for p in topic.partitions]
under_replicated = sum(len(p.isr) < len(p.replicas) for p in damaged if p.leader)
under_min_isr = sum(len(p.isr) < least_of[p.topic] for p in damaged if p.leader)
offline = sum(p.leader is None for p in damaged)

# %% tags=["wrong"]
# each partition in one of the three only | the number without those under min ISR
damaged = [p for topic in found.topics for p in topic.partitions]
offline = sum(p.leader is None for p in damaged)
under_min_isr = sum(len(p.isr) < least_of[p.topic] for p in damaged) - offline
under_replicated = sum(least_of[p.topic] <= len(p.isr) < len(p.replicas) for p in damaged)

# %% tags=["wrong"]
# at the minimum is taken for under it | at the minimum or under it
damaged = [p for topic in found.topics for p in topic.partitions]
under_replicated = sum(len(p.isr) < len(p.replicas) for p in damaged)
under_min_isr = sum(len(p.isr) <= least_of[p.topic] for p in damaged)
offline = sum(p.leader is None for p in damaged)

# %% tags=["wrong"]
# one minimum for all topics | but one topic asks for 1 only
damaged = [p for topic in found.topics for p in topic.partitions]
under_replicated = sum(len(p.isr) < len(p.replicas) for p in damaged)
under_min_isr = sum(len(p.isr) < 2 for p in damaged)
offline = sum(p.leader is None for p in damaged)

# %% tags=["wrong"]
# everything on broker 2 is offline | have a replica on broker 2
damaged = [p for topic in found.topics for p in topic.partitions]
under_replicated = sum(len(p.isr) < len(p.replicas) for p in damaged)
under_min_isr = sum(len(p.isr) < least_of[p.topic] for p in damaged)
offline = sum(2 in p.replicas for p in damaged)

# %% tags=["nbval-check-output"]
lab.check.damage_counted(under_replicated, under_min_isr, offline)

# %% [markdown] explains="UnderReplicatedPartitions, UnderMinIsrPartitionCount, OfflinePartitionsCount"
# These are the three alarms of a Kafka cluster. Kafka's tool shows the partitions behind them, and each broker counts them for a monitoring program (JMX is Java's way to offer such numbers):
#
# | alarm | `kafka-topics --describe` and | metric |
# |---|---|---|
# | under-replicated | `--under-replicated-partitions` | `kafka.server:type=ReplicaManager,name=UnderReplicatedPartitions` |
# | under min ISR | `--under-min-isr-partitions` | `kafka.server:type=ReplicaManager,name=UnderMinIsrPartitionCount` |
# | offline | `--unavailable-partitions` | `kafka.controller:type=KafkaController,name=OfflinePartitionsCount` |
#
# For the first two each broker counts the partitions that it *leads*, so a partition without a leader is in neither. The third one is the active controller's.
#
# A fourth one warns before the second: *at min ISR* (`--at-min-isr-partitions`, `…ReplicaManager,name=AtMinIsrPartitionCount`). One replica less, and `acks=all` is refused.
#
# An ISR that is *empty* is new. In clusters without ELR (*Going further*) the last replica stays in it, even if its broker is dead. There this exercise would find fewer partitions.

# %% [markdown] covers="B128"
# ### Exercise 3.3: Have a write refused
#
# Broker 2 is still away. Three topics have three replicas each, and `min.insync.replicas` is 1 for `clicks`, 2 for `invoices` and 3 for `payments`. Send one record and have it refused with `NOT_ENOUGH_REPLICAS`: the list `errors` must end with this error. Keep the producer as `writer`. And say `why` the leader refuses, with one of these words.
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
# TODO: make the producer `writer` ({**patience, …}), send a record that is refused, say `why`
# BEGIN SOLUTION
writer = lab.producer({**patience, "acks": "all", "retries": 0})
writer.produce(payments, "pay 100 euro to Anna")
writer.flush()
why = "promise"
# END SOLUTION

# %% [markdown] explains="acks"
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
writer = lab.producer({**patience, "acks": "all"})
writer.produce(payments, "pay 100 euro to Anna")
writer.flush()
why = "promise"

# %% tags=["wrong"]
# acks=1 | the record was stored: the producer asks for the leader alone
writer = lab.producer({**patience, "acks": 1, "retries": 0})
writer.produce(payments, "pay 100 euro to Anna")
writer.flush()
why = "promise"

# %% tags=["wrong"]
# acks=1, and the error is put into the list by hand | and is never told it
from confluent_kafka import KafkaError

writer = lab.producer({**patience, "acks": 1})
writer.produce(clicks, "a click")
writer.flush()
errors.append(KafkaError(KafkaError.NOT_ENOUGH_REPLICAS))
why = "promise"

# %% tags=["wrong"]
# nothing is sent, and the error is put into the list by hand | `writer` has sent nothing
from confluent_kafka import KafkaError

writer = lab.producer({**patience, "acks": "all", "retries": 0})
errors.append(KafkaError(KafkaError.NOT_ENOUGH_REPLICAS))
why = "promise"

# %% tags=["wrong"]
# another record is stored, and the error is put into the list by hand | no delivery report of `writer` has brought it
from confluent_kafka import KafkaError

writer = lab.producer({**patience, "acks": "all", "retries": 0})
writer.produce(clicks, "a click")
writer.flush()
errors.append(KafkaError(KafkaError.NOT_ENOUGH_REPLICAS))
why = "promise"

# %% tags=["wrong"]
# gives up before anybody answers | the producer gave up after 1 ms
writer = lab.producer({**patience, "retries": 0, "message.timeout.ms": 1})
writer.produce(payments, "pay 100 euro to Anna")
writer.flush()
why = "promise"

# %% tags=["wrong"]
# the error's name instead of the error | it should be the KafkaError itself
writer = lab.producer({**patience, "acks": "all", "retries": 0})
writer.produce(payments, "pay 100 euro to Anna")
writer.flush()
errors = [error.name() for error in errors]
why = "promise"

# %% tags=["wrong"]
# never waits for the report | no delivery report has come
writer = lab.producer({**patience, "acks": "all", "retries": 0})
writer.produce(payments, "pay 100 euro to Anna")
why = "promise"

# %% tags=["wrong"]
# a topic that is content with two replicas | which is content with 2 replicas
writer = lab.producer({**patience, "acks": "all", "retries": 0})
writer.produce(invoices, "invoice 1")
writer.flush()
why = "promise"

# %% tags=["wrong"]
# broker still up | all three replicas were in sync
lab.cluster.wait_in_sync([clicks, invoices, payments])
writer = lab.producer({**patience, "acks": "all", "retries": 0})
writer.produce(payments, "pay 100 euro to Anna")
writer.flush()
why = "promise"

# %% tags=["wrong"]
# takes it for a fault: no leader | the leader itself has answered
writer = lab.producer({**patience, "acks": "all", "retries": 0})
writer.produce(payments, "pay 100 euro to Anna")
writer.flush()
why = "leader"

# %% tags=["wrong"]
# takes it for a loss | was never stored
writer = lab.producer({**patience, "acks": "all", "retries": 0})
writer.produce(payments, "pay 100 euro to Anna")
writer.flush()
why = "lost"

# %% tags=["wrong"]
# takes it for overload | have little to do
writer = lab.producer({**patience, "acks": "all", "retries": 0})
writer.produce(payments, "pay 100 euro to Anna")
writer.flush()
why = "full"

# %% tags=["nbval-check-output"]
lab.check.write_refused(writer, errors, why)

# %% [markdown] covers="D154" explains="out of sync, preferred leader"
# ## It comes back
#
# `payments` can be read now and not written. What helps is to bring the broker back. A broker that returns fetches what it has missed. Until its replica has reached the leader's end it is **out of sync**: not silent, only behind. Then it is in the ISR again.
#
# Who should lead? The first in a partition's list of replicas is its **preferred leader**. When a topic is made, the **active controller** (the broker that decides such things for all) spreads these evenly.

# %%
from threebrokers.lab.scenarios import who_leads

lab.cluster.start(2)
lab.cluster.wait_in_sync([failsafe])

# %% [markdown]
# All replicas are back. And the leaders?

# %%
guess_3b = lab.predict("3.b")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_3b.choose("none")
# END SOLUTION

# %%
returned = who_leads(lab, failsafe)
leading, meant = returned.loc["broker 2"]
fewer = "some, but fewer than before" if leading < meant else "as many as before"
guess_3b.compare(fewer if leading else "none")
returned

# %% [markdown] covers="B127 D112 E021" explains="auto.leader.rebalance.enable"
# Broker 2 holds everything and only follows, and the other two do its work. Somebody must hold an election of the preferred leaders. In production the active controller does, every 300 s (`leader.imbalance.check.interval.seconds`), because `auto.leader.rebalance.enable` is true. Here it is false, so you can do it yourself. (Kafka with ZooKeeper did it only above 10 % of imbalance; Kafka 4.3 has no such setting.)

# %%
from confluent_kafka import ElectionType, TopicPartition

admin = lab.admin()
everyone = [TopicPartition(failsafe, number) for number in range(13)]
elected = admin.elect_leaders(ElectionType.PREFERRED, everyone).result()
lab.wait_until(lambda: who_leads(lab, failsafe)["leads"]["broker 2"] == meant, what="broker 2 to lead")
who_leads(lab, failsafe)

# %% [markdown]
# No record had to move, and none is lost: a preferred leader is elected only if it is in sync. On the command line this is `kafka-leader-election --election-type preferred --all-topic-partitions`.

# %% [markdown] covers="B032 B042 D124" explains="log end offset (LEO), high watermark"
# ## Stored, and not yet readable
#
# A record that only the leader has could be lost with the leader. If somebody had read it, they would have acted on something that never was. So a log has two ends:
#
# - the **log end offset** (LEO) is the offset that the next record of this replica will get; every replica has its own;
# - the **high watermark** is the offset *before* which records may be read. All in-sync replicas have the log up to there. And it moves only while these are at least `min.insync.replicas` (since Kafka 3.7, by the proposal KIP-966). Who asks for more gets an empty answer.
#
# Books say "the offset of the last record". It is the one after it, for both. (They also call a record before the high watermark *committed*. Here that word is for offsets and transactions.)

# %% [markdown] covers="B123 D109" explains="fetch request"
# How does the leader know what its followers have? A follower copies as a consumer reads: it sends a fetch request with the offset that it wants next. Who asks for offset 4 has the records 0 to 3.

# %%
from threebrokers.diagrams import watermark_picture

watermark_picture()

# %% [markdown]
# In moment 4 the record is everywhere, and still nobody may read it: the leader does not know yet. It takes the **next** fetch of the last follower in sync. Then the record is readable, and a producer with `acks=all` gets its acknowledgement. The followers hear of the new high watermark with the answers to these fetches, a moment later.

# %% [markdown]
# ### Exercise 3.4: Hide three records
#
# Make the leader of `unseen` store three records that no consumer can read, and leave it so. The topic has one partition, three replicas, and `min.insync.replicas=3`. Then say as numbers the leader's `log_end_offset` and the `high_watermark`; and what the records wait for, `waits_for`, as one of these words.
#
# - `"flush"`: the leader has them in memory only, and must write them to disk first.
# - `"transaction"`: they belong to a transaction that is not over yet, and readers wait for its end.
# - `"consumer"`: a consumer must ask for longer, or begin at the right offset.
# - `"replicas"`: not enough in-sync replicas have them.

# %%
lab.cluster.wait_in_sync()
unseen = fresh(lab, "unseen", partitions=1, replicas=3, least=3)
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
# leaves a transaction open | the records are in an open transaction
producer = lab.producer({"transactional.id": lab.topic("unseen")})
producer.init_transactions()
producer.begin_transaction()
for word in ["nobody", "sees", "me"]:
    producer.produce(unseen, word)
producer.flush()
lab.wait_until(
    lambda: lab.cluster.state([unseen]).topic(unseen).partitions[0].high_watermark == 3, what="the followers"
)
log_end_offset, high_watermark, waits_for = 3, 0, "transaction"

# %% tags=["wrong"]
# heals everything at the end | the follower that you held back goes on again
lab.cluster.pause(next(broker for broker in partition.replicas if broker != partition.leader))
producer = lab.producer({"acks": 1})
for word in ["nobody", "sees", "me"]:
    producer.produce(unseen, word)
producer.flush()
log_end_offset, high_watermark, waits_for = 3, 0, "replicas"
lab.cluster.wait_in_sync()
lab.wait_until(
    lambda: lab.cluster.state([unseen]).topic(unseen).partitions[0].high_watermark, what="the follower"
)

# %% tags=["wrong"]
# four records | the leader has 4 records that nobody can read
lab.cluster.pause(next(broker for broker in partition.replicas if broker != partition.leader))
producer = lab.producer({"acks": 1})
for number in range(4):
    producer.produce(unseen, f"hidden {number}")
producer.flush()
log_end_offset, high_watermark, waits_for = 4, 0, "replicas"

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
# mixes up the two ends | have changed places
lab.cluster.pause(next(broker for broker in partition.replicas if broker != partition.leader))
producer = lab.producer({"acks": 1})
for word in ["nobody", "sees", "me"]:
    producer.produce(unseen, word)
producer.flush()
log_end_offset, high_watermark, waits_for = 0, 3, "replicas"

# %% tags=["wrong"]
# believes that flushing helps | Kafka never waits for a disk
lab.cluster.pause(next(broker for broker in partition.replicas if broker != partition.leader))
producer = lab.producer({"acks": 1})
for word in ["nobody", "sees", "me"]:
    producer.produce(unseen, word)
producer.flush()
log_end_offset, high_watermark, waits_for = 3, 0, "flush"

# %% tags=["wrong"]
# believes that read_uncommitted helps | who reads open ones, too, stops at
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
# The two replicas that are still in sync have all three records, and yet nobody may read them: two are fewer than `min.insync.replicas`. Let the follower go on, and the records appear without anybody sending them again.

# %%
from threebrokers.kafka.log_reader import read_log

lab.cluster.wait_in_sync()
appeared = lab.wait_until(lambda: read_log(lab.bootstrap, unseen), what="the records to be readable")
print([record.value.decode() for record in appeared])

# %% [markdown] covers="E025" explains="rolling restart"
# ## One restart after the other
#
# For a new version or a new setting all brokers must be restarted, one after the other: stop one, start it, wait until all replicas are in sync, then the next. That is a **rolling restart**.
#
# Two topics get a record every 50 ms, with `acks=all`. Both have three replicas. One asks for two in sync, the other for all three. *Short* means: less than half of what one restart takes.

# %%
guess_3c = lab.predict("3.c")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_3c.choose("short with 2 in sync, a whole restart with 3")
# END SOLUTION

# %%
from threebrokers.lab.scenarios import all_acknowledged, restart_silences, steady_writes, wait_for_more

steady = {f"silence, {n} in sync": fresh(lab, f"steady-{n}", 1, replicas=3, least=n) for n in [2, 3]}
with lab.record(*steady.values()) as rolling, steady_writes(lab, steady.values()):
    for broker in lab.cluster.brokers:
        lab.cluster.stop(broker)
        lab.cluster.start(broker)
        lab.cluster.wait_in_sync(steady.values())
        wait_for_more(lab, steady.values())  # records go on, so each silence is seen apart
lab.observed("Every record was acknowledged in the end", all_acknowledged(rolling))
rolling.show()

# %% [markdown]
# The rows *acknowledged* show it. Here are the longest silences after each stop, in seconds.

# %%
silent = restart_silences(rolling, steady)
short = list(silent.iloc[:, 1:].max() < silent["the restart took"].min() / 2)
if_two_is_short = "short for both" if short[1] else "short with 2 in sync, a whole restart with 3"
guess_3c.compare(if_two_is_short if short[0] else "a whole restart for both")
silent.round(1)

# %% [markdown]
# Nothing is lost in either topic: a refused record was sent again until it was stored. But with 3 of 3, which looks safest, each restart is a silence. With 2 of 3 the stopped broker hands over what it leads, and two replicas go on.
#
# That works only because we wait between two restarts. Whoever stops the next broker while a partition is still under-replicated leaves it one replica, and that is too few.
#
# So choose `replication_factor` as `min.insync.replicas` plus one: then one broker may be away. With plus two, another one may even fail meanwhile.

# %% [markdown]
# ## Here and in production
#
# Six settings of your three brokers, beside Kafka's defaults. The first three are times, and shorter here, so that you need not wait. The fourth is off here, so that you hold the election yourself (*It comes back*); the fifth is how often it would look. The last is the number of threads with which a follower copies from every other broker.

# %%
names = ["broker.session.timeout.ms", "broker.heartbeat.interval.ms", "replica.lag.time.max.ms"]
names += ["auto.leader.rebalance.enable", "leader.imbalance.check.interval.seconds", "num.replica.fetchers"]
broker_settings(lab, names)

# %% [markdown] covers="B127 D110 E103 E108" explains="broker.session.timeout.ms, replica.lag.time.max.ms"
# - In production a dead broker is missed after 9 s: its own heartbeats, which are signs of life to the active controller, stay away for `broker.session.timeout.ms`. (Old books name a session with ZooKeeper, which is gone.)
# - A follower is put out of the ISR if it did not reach the leader's end within `replica.lag.time.max.ms`: 30 s since Kafka 2.5 (proposal KIP-537), 10 s in old books. (Replicas that left and came back all the time did more harm than slow ones.) It is not enough to fetch: it must reach the end once in that time.
# - Controllers are often processes of their own. Then two dead brokers do not take the quorum with them.

# %% [markdown]
# ## What to remember
#
# - Replicas protect if you ask for them: three replicas and `min.insync.replicas=2` survive any one broker, and refuse a write with `acks=all` rather than keep it on one broker.
# - The ISR are the replicas that keep up. Who is out is not waited for, and does not lead while one of the ISR is left (who may lead when none is: *Going further*); it comes back by catching up, and does not lead before somebody holds an election.
# - A record is readable when all in-sync replicas have it, and these are at least `min.insync.replicas`. Until then it is stored, and hidden.

# %% [markdown] covers="B034"
# ## Quiz
#
# Each answer is explained when you have chosen it. The first one is kept with your progress, on this machine.

# %%
lab.quiz()

# %% [markdown] covers="D150 B134"
# ## Going further
#
# No other lab needs what follows. Its cells use names of the cells above: run those first.
#
# ### How many may leave?
#
# Six choices, with three partitions each. Two brokers are going to be stopped, one after the other. Each time we send one record to every partition with `acks=all`, and count how many are accepted.

# %%
from threebrokers.lab.scenarios import accepted

lab.cluster.wait_in_sync()
pairs = [(1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (3, 3)]
choices = {fresh(lab, f"replicas-{r}-least-{n}", 3, r, n): f"replicas {r}, in sync {n}" for r, n in pairs}
taken = {"all brokers up": accepted(lab, choices)}
print(taken["all brokers up"].total(), "of 18 records were accepted.")

# %%
guess_3d = lab.predict("3.d")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_3d.choose("1")
# END SOLUTION

# %% [markdown]
# Our brokers are also the controllers. When the second one is stopped, one of three controllers is left, and one can decide nothing: the **quorum**, the majority, is gone (lab 04). So the lab wants to hear `force=True`. What was decided before stays.

# %%
import pandas as pd

lab.cluster.stop(3)
taken["one is gone"] = accepted(lab, choices)
lab.cluster.stop(2, force=True)
taken["two are gone"] = accepted(lab, choices)

guess_3d.compare(taken["one is gone"][lab.topic("replicas-2-least-2")])
table = pd.DataFrame({when: [count[topic] for topic in choices] for when, count in taken.items()})
table.set_index(pd.Index(choices.values()))

# %% [markdown] covers="B132 E104"
# Each number is *how many of three partitions* took the record.
#
# - **One replica**: without its one broker nobody can use a partition.
# - **Two replicas** survive one loss, if one in sync is enough. If both must be, they are worse than one for writing: two brokers have to be there instead of one.
# - **Three, one in sync**: accepts to the end. But the last records are on one broker only.
# - **Three, two in sync**: the usual choice. One may leave and all goes on. When two are gone nothing is written: durability above availability.
# - **Three of three**: the first loss stops all writing.
#
# "Three replicas tolerate three failures", slides say. It is two, in the fourth line only, and only if the first loss is noticed before the second. Two brokers killed *at once* take the quorum with them: nobody shortens the ISR, and nothing is accepted.

# %%
still = read_log(lab.bootstrap, lab.topic("replicas-3-least-2"))
lab.observed("With two brokers gone, what was accepted before could still be read", len(still) >= 6)
rules = [[3, 2, 1], [3, 3, 2], [3, 1, 0], [3, 3, 3], [3, 3, 0], [3, 0, 0]]
lab.observed("Every number of the table was what the rules say", table.values.tolist() == rules)
lab.cluster.wait_in_sync()

# %% [markdown]
# ### A follower that freezes
#
# All three replicas of `slow` are in sync, and two must be. Then one follower stands still.

# %%
guess_3e = lab.predict("3.e")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_3e.choose("after some seconds")
# END SOLUTION

# %%
import pandas as pd

from threebrokers.lab.scenarios import send_and_read

slow = fresh(lab, "slow", partitions=1, replicas=3, least=2)
producer = lab.producer({"acks": "all", "linger.ms": 0})
consumer = lab.consumer({"group.id": lab.group("slow"), "enable.auto.commit": False})
consumer.assign([TopicPartition(slow, 0, 0)])

rows = [send_and_read(lab, producer, consumer, slow) for _ in range(4)]
in_slow = lab.cluster.state([slow]).topic(slow).partitions[0]
frozen = next(broker for broker in in_slow.replicas if broker != in_slow.leader)
lab.cluster.pause(frozen)
rows += [send_and_read(lab, producer, consumer, slow) for _ in range(4)]
lab.cluster.resume(frozen)
consumer.close()

waited = rows[4]["acknowledged"]
guess_3e.compare(
    "at once" if waited < 500 else "after some seconds" if waited < 10_000 else "when the follower is back"
)
pd.DataFrame(rows, index=[*["all well"] * 4, *["one follower frozen"] * 4])

# %% [markdown] covers="D125 D148"
# The times are in milliseconds. (The first record pays for the connections.) One frozen follower made everybody wait: the writer for its acknowledgement, and the reader for a record that the leader had all the time. Then the follower was put out of the ISR, everything was fast again, **and one replica fewer is safe**.
#
# Two settings say how long all wait for one. A broker that is silent is put out of every ISR after `broker.session.timeout.ms`: that was the one here. A broker that lives and copies too slowly is put out after `replica.lag.time.max.ms`.

# %%
usual = sorted(row["acknowledged"] for row in rows[-3:])[1]
lab.observed("The frozen follower was put out of the ISR", len(rows[-1]["ISR"]) == 2)
lab.observed("All waited for it until then, and nobody after that", usual < waited / 2)
lab.cluster.wait_in_sync([slow])

# %% [markdown] explains="eligible leader replicas (ELR)"
# ### Who is safe, who is behind
#
# When the ISR is smaller than `min.insync.replicas`, nothing more is acknowledged with `acks=all`. So a replica that leaves it then still has everything that was. The active controller remembers such **eligible leader replicas** (ELR): they may be elected when nobody of the ISR is left (but one that crashed, as broker 2 does here, is taken out when it starts again: lab 04). `payments` will have one, `invoices` not: there, writing could go on without broker 2.
#
# Meanwhile ten megabytes of `films` are written, which broker 2 misses.

# %%
films = fresh(lab, "films", partitions=1, replicas=3, least=2)
take_down(lab, 2, [films, payments, invoices])
told = lab.cluster.tool("kafka-topics", "--describe", "--topic", f"{payments}|{invoices}")
lines = [line.strip() for line in told.splitlines() if "Elr" in line]
print(*lines, sep="\n")
lab.observed("One replica was kept as eligible to lead", sum("Elr: 2" in line for line in lines) == 1)

producer = lab.producer({"acks": "all"})
for _ in range(1000):
    producer.produce(films, b"x" * 10_000)
left = producer.flush()

# %% [markdown] explains="NOT_ENOUGH_REPLICAS_AFTER_APPEND"
# - ELR exist since Kafka 4.0, and are on in clusters that are *new* since 4.1 (proposal KIP-966). One that was upgraded must switch them on: `kafka-features upgrade --feature eligible.leader.replicas.version=1`. Without them the last replica never leaves the ISR, even if its broker is dead.
# - Whoever lowers `min.insync.replicas` in such a state makes the topic writable again, and clears its ELR: then the replica that is away is not safe any more. Better bring the broker back.
# - If replicas get too few *while* a record waits for them, it has been stored already. Kafka has the error `NOT_ENOUGH_REPLICAS_AFTER_APPEND` for that; a Kafka of today rather lets such a write wait until its time is over.

# %% [markdown] explains="throttle"
# Broker 2 would fetch the films at once, so the cell slows it down. Kafka can *throttle* replication, so that a broker that returns does not take the whole network. At 100 KB in a second it needs its time. Then the broker starts.

# %%
change = ["kafka-configs", "--alter", "--entity-type"]
every_replica, rate = "leader.replication.throttled.replicas", "leader.replication.throttled.rate"
told = lab.cluster.tool(*change, "topics", "--entity-name", films, "--add-config", f"{every_replica}=*")
told = lab.cluster.tool(*change, "brokers", "--entity-default", "--add-config", f"{rate}=100000")
lab.cluster.start(2)


def ends_of_films():
    film = lab.cluster.state([films]).topic(films).partitions[0]
    for broker, end in film.log_end_offsets:
        print(f"broker {broker} holds {end:,} of {film.log_end_offset:,}", "in sync" * (broker in film.isr))
    return film


def fetched():
    return dict(lab.cluster.state([films]).topic(films).partitions[0].log_end_offsets).get(2)


lab.wait_until(fetched, what="broker 2 to fetch")
lab.observed("Broker 2 fetched again, and was not in sync", 2 not in ends_of_films().isr)

# %% [markdown] covers="B084" explains="kafka-replica-verification"
# This is what *out of sync* means: not silent, only behind. The distance between the leader's end and a replica's end is its **lag**. (Old courses start `kafka-replica-verification` to see it. That tool is deprecated; watch under-replicated partitions instead.) Now the throttle is taken away.

# %%
told = lab.cluster.tool(*change, "brokers", "--entity-default", "--delete-config", rate)
lab.cluster.wait_in_sync([films])
lab.observed("It reached the end and was in sync again", set(ends_of_films().isr) == {1, 2, 3})

# %% [markdown]
# ### Exercise 3.5: Say who leads after the election
#
# `work` has six partitions, one for each order of three replicas. Broker 2 was away and came back; then broker 3 has died. Now somebody is going to hold an election of the preferred leaders, for all six partitions. Say for each who leads it `after` that: a dictionary such as `{0: 1, 1: …}`. The check holds the election and compares.

# %%
from threebrokers.lab.scenarios import after_two_outages

work = after_two_outages(lab, "work")
for p in lab.cluster.state([work]).topic(work).partitions:
    print(f"partition {p.id}: leader {p.leader}, replicas {p.replicas}, ISR {p.isr}")
# TODO: say who leads each partition `after` the election
# BEGIN SOLUTION
now = lab.cluster.state([work]).topic(work).partitions
after = {p.id: p.replicas[0] if p.replicas[0] in p.isr else p.leader for p in now}
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Who is the preferred leader of each partition? And may each of these be elected at this moment?
#
# </details>
# <details><summary>Another hint</summary>
#
# Sort the six: the right one leads already; the right one could lead; the right one cannot. Does a partition lose the leader that it has, if its preferred leader is away?
#
# </details>

# %% tags=["wrong"]
# always the first of the list | and that is not in sync
after = {p.id: p.replicas[0] for p in lab.cluster.state([work]).topic(work).partitions}

# %% tags=["wrong"]
# nothing changes | is in sync again
after = {p.id: p.leader for p in lab.cluster.state([work]).topic(work).partitions}

# %% tags=["wrong"]
# no leader where the preferred one is away | partition 4 is led by None in your answer
after = {0: 1, 1: 1, 2: 2, 3: 2, 4: None, 5: None}

# %% tags=["wrong"]
# the second of the list takes over | this election gives leadership to the preferred leader or changes nothing
after = {0: 1, 1: 1, 2: 2, 3: 2, 4: 2, 5: 1}

# %% tags=["wrong"]
# shares them out evenly | leads already
after = {0: 2, 1: 1, 2: 2, 3: 1, 4: 1, 5: 2}

# %% tags=["wrong"]
# only those that change | says nothing of partition
after = {2: 2}

# %% tags=["nbval-check-output"]
lab.check.leaders_foretold(work, after)

# %% [markdown] explains="replica placement"
# ### Where the replicas are
#
# Who decides the **replica placement**? The active controller, when the topic is made. Here are the preferred leaders of `failsafe` three by three.

# %%
lab.cluster.wait_in_sync()
partitions = lab.cluster.state([failsafe]).topic(failsafe).partitions
threes = [tuple(p.replicas[0] for p in partitions[n : n + 3]) for n in range(0, 13, 3)]
print(*threes)
leads = sorted(sum(broker in three for three in threes) for broker in lab.cluster.brokers)
lab.observed("In each group of three no broker came twice", all(len(set(t)) == len(t) for t in threes))
lab.observed("So they were spread as evenly as 13 can be", leads == [4, 4, 5])

# %% [markdown] covers="A029 B064 D126 D127 D107"
# In each group of three partitions every broker is first once, and the order is drawn anew for each group. Which broker leads five of the 13 is chance. (Old books describe an order that goes round and shifts. That was Kafka with ZooKeeper.) The other replicas follow on other brokers: two on one would protect from nothing. So ten partitions of three replicas on six brokers are 30 replicas, about five on each. Real brokers hold hundreds or thousands of replicas.

# %% [markdown] covers="A040 B033 B123"
# What is copied is a partition, batch by batch. These are the files of one partition on the three brokers, and a picture of a small topic. (Its leaders are those that the outages above have left.)

# %%
from threebrokers.diagrams import topic_picture

producer = lab.producer()
for word in ["one", "two", "three"]:
    producer.produce(failsafe, word, partition=0)
left = producer.flush()


def files():
    return [lab.cluster.segments(failsafe, 0, broker)[0] for broker in lab.cluster.brokers]


lab.wait_until(lambda: len({f.stat().st_size for f in files()}) == 1, what="the last replica to be complete")
paths = ",".join(str(path) for path in files())
dumps = lab.cluster.tool("kafka-dump-log", "--files", paths).split("Dumping ")[1:]
batches = [[line for line in dump.splitlines() if line.startswith("baseOffset")] for dump in dumps]
for broker, lines in zip(lab.cluster.brokers, batches, strict=True):
    print(f"broker {broker}:", lines[-1].partition(" baseSequence")[0])
lab.observed("The three replicas had the same batches", batches[0] == batches[1] == batches[2])
topic_picture(lab.cluster.state([stock]).topic(stock))

# %% [markdown] covers="B124 D108 E006 E074 D128" explains="broker.rack, client.rack, replica.selector.class, follower fetching"
# ### Reading from the nearest replica
#
# Books say that followers serve nobody. Writers do need the leader, but since Kafka 2.4 (proposal KIP-392) a reader may use a follower that is near (**follower fetching**). Brokers say in which **rack** they stand (`broker.rack`; in a cloud this is the zone). A new partition gets its replicas in different racks, so that one broken switch does not take all of them. A reader says where it stands with `client.rack`.
#
# Our brokers are in `rack-1` to `rack-3`, and choose a replica in the reader's rack (`replica.selector.class`). How many bytes come from which broker?

# %%
import pandas as pd

from threebrokers.lab.scenarios import bytes_by_broker

nearest = lab.fresh_topic("nearest", partitions=3, replication_factor=3)
producer = lab.producer({"linger.ms": 20})
for number in range(3000):
    producer.produce(nearest, b"x" * 1000, partition=number % 3)
left = producer.flush()

group = {"group.id": lab.group("nearest")}
read = {
    "no rack": bytes_by_broker(lab, nearest, 3000, group),
    "rack-2": bytes_by_broker(lab, nearest, 3000, {**group, "client.rack": "rack-2"}),
}
lab.observed("The reader in rack-2 got its records from broker 2", read["rack-2"][1] > 3_000_000)
pd.DataFrame(read, index=[f"from broker {broker}" for broker in lab.cluster.brokers])

# %% [markdown]
# Reading inside a zone is quicker, and often cheaper, because traffic between zones costs money. The price: a follower knows the high watermark a moment later than the leader.

# %% [markdown] covers="E105 E104"
# ### What replicas cost
#
# Every replica is stored, and all but the leader's come over the network from the leader. One megabyte is sent to topics with one, two and three replicas. How much do their files grow?

# %%
import pandas as pd

from threebrokers.lab.scenarios import stored_bytes

producer = lab.producer()
rows = {}
for count in [1, 2, 3]:
    topic = fresh(lab, f"replicas-{count}-least-1", 1, replicas=count, least=1)
    for _ in range(100):
        producer.produce(topic, b"x" * 10_000)
    left = producer.flush()
    leader, *followers = stored_bytes(lab, topic).values()
    rows[f"replicas: {count}"] = {
        "MB stored": (leader + sum(followers)) / 1e6,
        "of these copied from the leader": sum(followers) / 1e6,
    }
costs = pd.DataFrame(rows).T.round(1)
lab.observed("Each replica but the leader's was copied once", [*costs.iloc[:, 1]] == [0.0, 1.0, 2.0])
costs

# %% [markdown] explains="ReplicationBytesInPerSec"
# So writing 10 MB a second with five replicas would make 40 MB a second between the brokers (`kafka.server:type=BrokerTopicMetrics,name=ReplicationBytesInPerSec` counts it on each). More replicas mean: more losses survived, more reading nearby; but more disk, more network, and a longer wait for `acks=all`. Thumbnails that can be computed again live with one replica. Orders get three, two of them in sync. Some banks are said to keep five.

# %% [markdown] covers="B057 B058"
# ### Listeners and addresses
#
# A program need not know all brokers: `bootstrap.servers` may name some. The consumer below is given two addresses, the producer two others. Each asks one of them, learns of all three, and then talks to the leader of each partition.

# %%
one, two, three = (lab.cluster.address(broker) for broker in lab.cluster.brokers)
start = {"auto.offset.reset": "earliest", "bootstrap.servers": f"{three},{one}"}
parcels = lab.fresh_topic("parcels", brokers=[[1], [2], [3]], partitions=3)  # one replica on each broker
consumer = lab.consumer({"group.id": lab.group("parcels"), **start})
consumer.subscribe([parcels])
producer = lab.producer({"bootstrap.servers": f"{one},{two}"})
for greeting in ["hello", "bonjour", "hallo", "hola"]:
    producer.produce(parcels, greeting)
left = producer.flush()

got = []
while len(got) < 4:
    got += [message.value().decode() for message in consumer.consume(4, timeout=0.5)]
consumer.close()
print(got)
lab.observed("All four greetings arrived", sorted(got) == ["bonjour", "hallo", "hello", "hola"])

# %% [markdown] covers="E016"
# Where do the addresses come from? From the brokers' settings. Here are the lines in the compose file of this course, which describes the same three brokers as containers (`.venv/bin/threebrokers up --engine compose` runs the labs on them). Each `KAFKA_…` is a setting of the broker, in capitals.

# %%
from threebrokers.lab.scenarios import compose_file

lines = [line.strip() for line in compose_file().splitlines()]
said = ("KAFKA_LISTENER", "KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR")
print(*(line for line in lines if line.startswith(said)), sep="\n")
first = lines[lines.index("kafka-1:") : lines.index("kafka-2:")]
print(*(line for line in first if ":9" in line or "ADVERTISED" in line), sep="\n")

# %% [markdown]
# - **Listeners** (`listeners`) are where a broker listens. Here are three: for clients, for the copying between brokers, and for the controllers. (The names are free; the map says how each is secured, here not at all.) No host stands before the port, so the container listens on all its networks.
# - **Advertised listeners** (`advertised.listeners`) are the addresses that a broker tells others. They must be right *from where the client is*: `127.0.0.1` and the published port for programs on your machine, a name of their own network for the other brokers.
# - **Internal topics**, such as that of the groups' offsets, get three replicas. Examples with one broker say 1. With three brokers that would mean: whichever dies takes the offsets of some groups with it.
#
# Now we break one of them. Broker 3 is started again with one setting changed: it advertises the port 1, where nobody listens. That is what happens when a container publishes another port than it advertises.

# %%
lab.cluster.stop(3)
lab.cluster.start(3, advertised="127.0.0.1:1")
print({broker.id: broker.address for broker in lab.cluster.state([]).brokers})

# %%
guess_3f = lab.predict("3.f")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_3f.choose("those for brokers 1 and 2")
# END SOLUTION

# %%
import pandas as pd

from threebrokers.lab.scenarios import connections_into

connections, arrived = {}, {}


def report(error, message):
    arrived[message.partition() + 1] = error.name() if error else "arrived"  # the broker of this partition


settings = {"bootstrap.servers": three, "message.timeout.ms": 8000, "on_delivery": report}
producer = lab.producer({**settings, **connections_into(connections)})
for number in range(3):
    producer.produce(parcels, "a parcel", partition=number)
left = producer.flush()

print(arrived)
there = [broker for broker, told in sorted(arrived.items()) if told == "arrived"]
guess_3f.compare(
    {(1, 2): "those for brokers 1 and 2", (1, 2, 3): "all three", (): "none"}.get(
        tuple(there), "only the one for broker 3"
    )
)
pd.DataFrame(connections).T.sort_index()

# %% [markdown]
# The program has **two addresses** of broker 3: one that you gave, which works, and one that it was told, which does not. It used the first only to ask for the brokers' addresses: all three in the table come from that answer. Then it left it (librdkafka does so since version 2.10.0; its change log says so). Records go to the addresses that brokers tell.
#
# So the sign of this fault is: a program lists topics, and then cannot write or read. The cluster itself sees nothing, because the brokers copy from each other by another listener. `.venv/bin/threebrokers doctor` in a terminal compares both addresses and names the setting. (A client that has lost *all* brokers it was told of goes back to the given addresses: `metadata.recovery.strategy`, which is `rebootstrap` unless told.)
#
# The next cell starts broker 3 again, with its right address.

# %%
again = lab.cluster.up()
print("Started again: broker", *again)
told = []
producer = lab.producer(
    {"bootstrap.servers": three, "on_delivery": lambda error, message: told.append(error)}
)
for number in range(3):
    producer.produce(parcels, "a parcel", partition=number)
left = producer.flush()
lab.observed("With the right address all three arrived", len(told) == 3 and not any(told))

# %% [markdown] explains="enable.idempotence"
# ### The same settings in Java
#
# This client (librdkafka, in C) has other names and defaults than Java's. Those that this lab needs:
#
# | here | in Java | default here | default in Java |
# |---|---|---|---|
# | `message.timeout.ms`, or `delivery.timeout.ms` | `delivery.timeout.ms` | 5 minutes | 2 minutes |
# | `request.timeout.ms`: how long the leader waits for its followers | the same name; in Java also how long the client waits for an answer | 30 s | 30 s |
# | `retries` | the same | 2,147,483,647 | 2,147,483,647 |
# | `acks` | the same | all | all |
# | `enable.idempotence` | the same | false: what is sent again can be stored twice | true |

# %% [markdown]
# Compare with the [solution](../solutions/03_replication.ipynb). Next lab: [What happens in the two seconds after a broker dies?](04_broker_failover.ipynb)
