# %% [markdown]
# # What happens in the two seconds after a broker dies?
#
# **You will** stop, kill, freeze and cut off a broker and measure the silence that follows, write a producer that loses nothing, and lose records on purpose to see which ones go.
#
# *45 minutes. You need lab 03: leader, follower, ISR, high watermark.*

# %%
from threebrokers import open_lab

lab = open_lab("04")

# %% [markdown] covers="C008 D103 E005 D099 D101 E093 E107 B125"
# ## Who notices that a broker is gone?
#
# A dead broker says nothing. So somebody must notice that it is silent. In every Kafka cluster one node is the **active controller**. It knows which brokers there are, and it chooses the leaders of partitions.
#
# - A broker that starts **registers** with it. From then on it sends a heartbeat every 300 ms.
# - If the active controller hears nothing for 1.7 s, the broker's **session** is over and the broker is **fenced**: it may not lead any more, and its partitions get other leaders. (Kafka's defaults are 2 s and 9 s: `broker.heartbeat.interval.ms`, `broker.session.timeout.ms`. The lab has shorter times so that you need not wait.)
# - The broker stays on the list of brokers. It is only not counted as alive, until it comes back or somebody removes it for ever.
#
# Who is the active controller now? Kafka has a tool for that.

# %%
print(lab.cluster.tool("kafka-metadata-quorum", "describe", "--status"))

# %% [markdown] covers="A041 B047 E011 E092 E091"
# `LeaderId` is the active controller. `CurrentVoters` are the controllers, here all three brokers: each of ours does both jobs. In production controllers are usually processes of their own.
#
# The controllers are **voters**: they elect the active one, and a majority of them, the **quorum**, must agree on what is written. The protocol is Raft (**KRaft**). They keep a log of everything that is known about the cluster: topics, leaders, ISRs, settings. The active controller is the leader of that log, the other controllers follow it, and all brokers read it. So a new active controller already has the whole log when it takes over.
#
# Until Kafka 4 this was the work of another system, ZooKeeper. Old books tell you to start it first. Today there is nothing to start.

# %% [markdown] covers="D101 B065 B067 B068"
# ## Four ways to go silent
#
# Now the experiment. A producer sends a heartbeat twenty times a second, a consumer reads it. The broker that leads their partition goes silent in four ways, one after the other:
#
# | | what is done | what is left |
# |---|---|---|
# | `stop` | a clean shutdown, as with a plain `kill` | the broker says good-bye: it hands its partitions over first |
# | `kill` | `kill -9`: the process crashes | nothing; the operating system closes the connections |
# | `pause` | the process is frozen | the connections stand, and nobody answers |
# | `cut` | no network to the other brokers | the process lives, and clients still reach it |
#
# **Predict:** after which of the four does the consumer hear nothing for the longest time?

# %%
guess = lab.predict(
    "After which of the four is the consumer silent for the longest time?",
    {
        "stop": "A clean shutdown looks slow, but leadership moves before the broker goes.",
        "kill": "A kill is the hardest blow, but it closes connections, so clients look for the new leader.",
        "pause": "A frozen broker closes nothing, but a client gives up waiting after its own time-out.",
        "cut": "The consumer gets polite, empty answers, so it has no reason to look elsewhere.",
    },
    id="4.a",
)
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess.choose("cut")
# END SOLUTION

# %% [markdown]
# Three topics with more partitions lie beside the heartbeats. They have one, two and three replicas. Nobody writes to them, but you will see what happens to their leaders. `lab.cluster.recover()` is a helper of this course: it brings every broker back, waits until all replicas are in sync, and lets the first replica of each partition lead. The active controller is never the victim before its own section, so that only one thing goes wrong at a time.

# %%
from threebrokers.lab.scenarios import controller_last

heartbeats = lab.fresh_topic(
    "heartbeats", partitions=3, replication_factor=3, config={"min.insync.replicas": "2"}
)
others = [lab.fresh_topic(f"replicas-{n}", partitions=13, replication_factor=n) for n in (1, 2, 3)]
lab.cluster.recover()

partitions = lab.cluster.state([heartbeats]).topic(heartbeats).partitions
place = next(p for p in partitions if p.leader == controller_last(lab)[0])
victim, PATIENCE = place.leader, 2.5  # a broker; and seconds that our clients wait for an answer
print(f"The heartbeats go to partition {place.id}. Its leader is broker {place.leader}.")

# %% [markdown]
# Clients have patience too. These two wait 2.5 s for an answer (Kafka's Python client waits 60 s). `Heartbeats`, a helper of this course, runs both as long as its `with` lasts, each in a thread of its own.
#
# Now all four, in one recording. It takes about 20 s. After `stop`, `kill` and `pause` the cell waits until heartbeats come again. The cut is mended after 6 s, more than twice the clients' patience.

# %%
import time

from threebrokers.lab.scenarios import Heartbeats, leads_nothing

UNDO = {"stop": "start", "kill": "start", "pause": "resume", "cut": "heal"}
group = lab.group("monitor")
with (
    lab.record(heartbeats, *others) as recording,
    Heartbeats(lab, heartbeats, place.id, group, PATIENCE) as heart,
):
    for how, undo in UNDO.items():
        began = time.monotonic()
        getattr(lab.cluster, how)(victim)
        lab.wait_until(lambda: leads_nothing(lab, victim, heartbeats), what="new leaders", within=20)
        if how == "cut":
            time.sleep(max(0, 2.4 * PATIENCE - (time.monotonic() - began)))
        else:
            heart.wait()
        getattr(lab.cluster, undo)(victim)
        lab.cluster.recover()
        heart.wait()

recording.show()

# %% [markdown]
# What was done stands at the top of the picture. Look for the hatched gaps below it. How long were they?

# %%
import pandas as pd

actions = {action.kind: action for action in recording.actions if action.kind in UNDO}
kinds = {"acknowledged": "producer hears nothing", "delivered": "consumer hears nothing"}
silence = pd.DataFrame(
    {
        words: [recording.longest_gap(kind, after=action).seconds for action in actions.values()]
        for kind, words in kinds.items()
    },
    index=list(actions),
)
guess.compare(silence["consumer hears nothing"].idxmax())
silence.round(1)

# %%
lab.observed("A clean stop was the shortest silence", silence["consumer hears nothing"].idxmin() == "stop")
lab.observed(
    "After the cut the consumer heard nothing until the network was mended",
    silence["consumer hears nothing"]["cut"] > 2 * PATIENCE,
)

# %% [markdown] covers="D115 E094"
# - **stop**: the broker asks the active controller to move its partitions to other leaders, and only then ends. Clients get the error "not leader", ask any broker for new metadata, and go on.
# - **kill**: connections break, so clients know at once. But there is no new leader before the session is over.
# - **pause**: the same 1.7 s for the active controller. The clients wait longer: nothing is broken, there is only no answer. Their own patience decides.
# - **cut**: the other brokers have a new leader after 1.7 s. The producer's records with `acks=all` are not acknowledged, so it loses patience and asks again who leads. The consumer gets an answer to every request: "nothing new". It believes that, until it refreshes its metadata by itself (`topic.metadata.refresh.interval.ms`, 5 minutes).
#
# So "how long does failover take?" has four answers, and half of each is in your clients' settings.

# %% [markdown]
# ### Exercise 4.1: Measure the four silences
#
# Set `silences`: for each of the words `"stop"`, `"kill"`, `"pause"` and `"cut"` the longest time in seconds without a **delivery** after that action, taken from `recording`.

# %%
# TODO: ask the recording for each of its actions
# BEGIN SOLUTION
silences = {}
for action in recording.actions:
    if action.kind in UNDO:
        silences[action.kind] = recording.longest_gap("delivered", after=action).seconds
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# What does `recording.actions` hold, and which of these actions began a silence? A recording knows several kinds of silence: which one does a consumer feel?
#
# </details>
# <details><summary>Another hint</summary>
#
# `recording.longest_gap(kind, after=action)` returns the longest gap of one kind between this action and the next. The gap has `seconds`. Without `after` it is the longest gap of the whole recording.
#
# </details>

# %% tags=["wrong"]
# mixes up sending and delivery | times between two sent records
silences = {
    action.kind: recording.longest_gap("sent", after=action).seconds
    for action in recording.actions
    if action.kind in UNDO
}

# %% tags=["wrong"]
# takes what the producer hears | without an acknowledgement, which the producer feels
silences = {
    action.kind: recording.longest_gap("acknowledged", after=action).seconds
    for action in recording.actions
    if action.kind in UNDO
}

# %% tags=["wrong"]
# takes the largest of another run | the longest of the whole recording for every action
silences = {how: recording.longest_gap("delivered").seconds for how in UNDO}

# %% tags=["wrong"]
# measures the way back | after the broker came back
pairs = list(zip(recording.actions, recording.actions[1:], strict=False))
silences = {
    gone.kind: recording.longest_gap("delivered", after=back).seconds
    for gone, back in pairs
    if gone.kind in UNDO
}

# %% tags=["nbval-check-output"]
lab.check.silences_measured(recording, silences)

# %% [markdown] covers="B023 B066 D105 B126"
# ## Who becomes the leader?
#
# The recording also saw the partitions beside the heartbeats. Each has a list of replicas, in an order that was chosen when the topic was made.
#
# **Predict:** a partition has the replicas `[2, 3, 1]`, all are in sync, and broker 2 dies. Who leads it now?

# %%
guess = lab.predict(
    "The replicas are [2, 3, 1], all in sync, and broker 2 dies. Who is the new leader?",
    {
        "broker 1": "The smallest number has no meaning; what counts is the order of the replicas.",
        "broker 3": "The first replica in the list that is alive and in sync.",
        "the broker with the most records": "All in-sync replicas hold everything that was acknowledged, so nobody counts.",
        "whichever answers first": "There is no race: the active controller alone decides.",
    },
    id="4.b",
)
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess.choose("broker 3")
# END SOLUTION

# %%
kill = actions["kill"]
before = [state for state in recording.states if state.at < kill.at][-1]
back = next(action.at for action in recording.actions if action.at > kill.at)
during = [state for state in recording.states if state.at < back][-1]


def leaders(state, topic):
    return {p.id: p for p in state.topic(topic).partitions}


rows = []
for topic in others:
    for number, p in leaders(before, topic).items():
        if p.leader == victim:
            now = leaders(during, topic)[number].leader
            rows.append((topic, number, list(p.replicas), list(p.isr), "nobody" if now is None else now))
pd.DataFrame(rows, columns=["topic", "partition", "replicas", "in sync", "leads after the kill"])

# %%
followed = []
for _, _, replicas, isr, now in rows:
    heirs = [broker for broker in replicas if broker in isr and broker != victim]
    followed.append(now == (heirs or ["nobody"])[0])
guess.compare("broker 3" if all(followed) else "whichever answers first")
lab.observed("Every partition went to the next replica in its list", all(followed))
alone = [row for row in rows if len(row[2]) == 1]
lab.observed("A partition with one replica had no leader any more", all(row[4] == "nobody" for row in alone))

# %% [markdown] covers="B131 B133"
# No vote is held. The active controller takes the first replica of the list that is alive and in the ISR. All of the ISR hold every acknowledged record, so any of them will do.
#
# - With **one replica** nobody is left. The partition is *offline* until its broker returns.
# - With **two or three replicas** one broker may die and nothing stops.
#
# That is why Kafka needs few replicas: with $f+1$ replicas, $f$ brokers may die. A system in which a majority must agree on every record needs $2f+1$. Kafka pays for it in another place: the list of who is in sync must itself be safe. It stands in the controllers' log, and *that* log is kept by a majority.

# %% [markdown] covers="E092 D104"
# ## The log that decides
#
# All this stands in the controllers' own log, `__cluster_metadata`. It is a log like any other, in files like any other, and the dump tool of lab 02 reads it. Here is what was written between the kill and the return.

# %%
import json
import re

quorum_leader = controller_last(lab)[-1]
segments = lab.cluster.segments("__cluster_metadata", 0, quorum_leader)[-2:]
dump = lab.cluster.tool(
    "kafka-dump-log", "--cluster-metadata-decoder", "--files", ",".join(map(str, segments))
)
decided = []
for line in dump.splitlines():
    written = re.search(r"CreateTime: (\d+)", line)
    if " payload: " in line and kill.at < int(written[1]) / 1000 < back:
        decided.append(json.loads(line.partition(" payload: ")[2]))
decided = [entry for entry in decided if entry["type"] != "NO_OP_RECORD"]  # the controllers' heartbeat
print(len(decided), "records; the first and the last two:")
print(*decided[:2], *decided[-2:], sep="\n")
fenced = [entry["data"] for entry in decided if entry["type"] == "BROKER_REGISTRATION_CHANGE_RECORD"]
lab.observed("The log says that the broker was fenced", victim in [entry["brokerId"] for entry in fenced])

# %% [markdown] covers="B069 D106 E101"
# ## The way back
#
# When the broker returned, its replicas came back as followers. Each asks the new leader: "up to which offset do we agree?" It knows under which leader it wrote each record: every leader has a number, the **leader epoch**, and every batch carries it. What the new leader does not have is cut off; then the follower fetches the rest. When it has caught up it is in the ISR again.
#
# It does not lead again by itself, at least not at once: an old book leaves its broker without work here. After `lab.cluster.recover()` moved leadership back, the epochs tell how often a partition had a new leader:

# %%
epochs = {"before": before, "killed": during, "at the end": recording.states[-1]}
pd.DataFrame(
    {
        when: {
            "leader": leaders(state, heartbeats)[place.id].leader,
            "leader epoch": leaders(state, heartbeats)[place.id].leader_epoch,
            "in sync": str(sorted(leaders(state, heartbeats)[place.id].isr)),
        }
        for when, state in epochs.items()
    }
)

# %% [markdown]
# Kafka's own check for a better leader runs every 300 s and is off in this lab (`auto.leader.rebalance.enable`), so that you see what happens. In lab 03 you moved leadership back with `elect_leaders`; `lab.cluster.recover()` does the same.

# %% [markdown] covers="A121 D055"
# ## A partition that nobody leads
#
# A key chooses its partition among *all* partitions, also those that nobody leads; otherwise an outage would move keys to other partitions. A record without a key may go anywhere. The broker that was the victim is frozen once more, and 39 records go to the topic with one replica: one for each partition by key, and 26 without a key.

# %%
from confluent_kafka import consistent

from threebrokers.lab.scenarios import leaderless_everywhere

single = others[0]
by_partition = {consistent(str(key).encode(), 13): str(key) for key in range(200)}
failed = []  # the keys of records that could not be stored


def report(error, message):
    if error:
        failed.append((message.key() or b"").decode())


lab.cluster.pause(victim)
lab.wait_until(lambda: leaderless_everywhere(lab, single), what="partitions without a leader")
producer = lab.producer(
    {"message.timeout.ms": 2000, "sticky.partitioning.linger.ms": 0, "on_delivery": report}
)
producer.list_topics(single, timeout=5)
for key in [*by_partition.values(), *[None] * 26]:
    producer.produce(single, b"x", key=key)
left = producer.flush(20)
lab.cluster.resume(victim)
lab.cluster.recover()
print(f"with a key: {len(failed) - failed.count('')} of 13 failed; without: {failed.count('')} of 26")

# %%
lost_by_key = [consistent(key.encode(), 13) for key in failed if key]
leaderless = [p.id for p in before.topic(single).partitions if p.leader == victim]
lab.observed(
    "Of the keyed records exactly those for leaderless partitions failed",
    sorted(lost_by_key) == leaderless,
)
lab.observed("Most records without a key went elsewhere", failed.count("") < 13)

# %% [markdown]
# Without a key this client draws a partition, and if nobody leads it, it draws once more. Sometimes it has bad luck twice. (Java's client chooses only among partitions that have a leader.) Nobody should move a keyed record elsewhere: its place is part of its meaning.

# %% [markdown]
# ### Exercise 4.2: A producer that loses nothing
#
# `through_a_kill(lab, topic)` gives you the numbers 0 to 149, and breaks something on the way: after 50 it stops the replication between brokers, after 100 it kills the leader, and then everything comes back. Send every number as a record to `transfers`, so that none is missing in the end. Make the producer with `ledger.producer(…)`: it is the usual one, and notes what becomes of each record.

# %%
from threebrokers.lab.scenarios import through_a_kill

lab.cluster.recover()
transfers = lab.fresh_topic("transfers", brokers=controller_last(lab), config={"min.insync.replicas": "2"})
ledger = lab.ledger("transfers")
# TODO: make the `producer` and send each number of through_a_kill(lab, transfers)
# BEGIN SOLUTION
producer = ledger.producer({"acks": "all", "enable.idempotence": True})
for number in through_a_kill(lab, transfers):
    producer.produce(transfers, str(number))
    producer.poll(0)
producer.flush()
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Who must have a record before the producer calls it stored? And how long may it go on trying, compared with the time until a new leader is there?
#
# </details>
# <details><summary>Another hint</summary>
#
# The setting `acks` says who must acknowledge. `message.timeout.ms` (300,000 unless you say otherwise) bounds all tries together. `flush()` without a number waits for every report; show `ledger.balance(transfers)` to see what is missing.
#
# </details>

# %% tags=["wrong"]
# acks=0 | acks=0: nobody acknowledges anything
producer = ledger.producer({"acks": 0})
for number in through_a_kill(lab, transfers):
    producer.produce(transfers, str(number))
    producer.poll(0)
producer.flush()

# %% tags=["wrong"]
# acks=1 | acks=1: only the leader had them
producer = ledger.producer({"acks": 1})
for number in through_a_kill(lab, transfers):
    producer.produce(transfers, str(number))
    producer.poll(0)
producer.flush()

# %% tags=["wrong"]
# gives up before there is a new leader | message.timeout.ms is 1000
producer = ledger.producer({"acks": "all", "message.timeout.ms": 1000})
for number in through_a_kill(lab, transfers):
    producer.produce(transfers, str(number))
    producer.poll(0)
producer.flush()

# %% tags=["wrong"]
# swallows the errors | failed at the first try
producer = ledger.producer({"acks": "all", "retries": 0, "on_delivery": lambda error, message: None})
for number in through_a_kill(lab, transfers):
    producer.produce(transfers, str(number))
    producer.poll(0)
producer.flush()

# %% tags=["nbval-check-output"]
lab.check.nothing_lost(producer)

# %% [markdown] covers="D104 E090"
# ## Split brain
#
# The old leader of the cut partition did not know that another leader had been chosen. For some seconds two brokers believed that they lead. Which of them is right? Let us write to the *old* one. A producer that asks for metadata would find the new leader, so these two start before the cut and never look again. One wants `acks=1`, the other `acks=all`.
#
# **Predict:** the old leader is cut off from the other brokers, and clients still reach it. What becomes of a record with `acks=1`?

# %%
guess = lab.predict(
    "A producer with acks=1 writes to the leader that is cut off. What happens?",
    {
        "it is acknowledged, and the record stays": "The old leader keeps its own log only until it meets the new leader; then it follows.",
        "it is acknowledged, and the record is lost": "One broker's word is worth as much as that one broker.",
        "it gets an error": "The old leader cannot know yet that it leads no more, so it accepts.",
    },
    id="4.c",
)
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess.choose("it is acknowledged, and the record is lost")
# END SOLUTION

# %%
from threebrokers.lab.scenarios import partition_of, two_writers

lab.cluster.recover()
cut_off = lab.fresh_topic("cut-off", brokers=controller_last(lab), config={"min.insync.replicas": "2"})
ledger = lab.ledger("split-brain")
writers, told = two_writers(ledger)  # with acks=1 and acks="all"; and what each of them is told
for writer in writers.values():
    writer.produce(cut_off, b"in peace")
    writer.flush()
old = partition_of(lab, cut_off).leader
with lab.record(cut_off) as recording:
    lab.cluster.cut(old)
    lab.wait_until(lambda: partition_of(lab, cut_off).leader not in (old, None), what="a leader", within=20)
    for writer in writers.values():
        writer.produce(cut_off, b"while two brokers believe that they lead")
    for writer in writers.values():
        writer.flush()
    split = partition_of(lab, cut_off)
    lab.cluster.heal(old)
    lab.cluster.recover()

# %%
print(
    f"new leader: {split.leader}, epoch {split.leader_epoch}; still believes that it leads:",
    split.stale_leaders,
)
print("told to the producers:", told)
balance = ledger.balance(cut_off)
balance

# %%
lab.observed("Two brokers believed that they lead", split.stale_leaders == (old,))
lab.observed("With acks=1 the old leader acknowledged both", told[1] == ["acknowledged"] * 2)
lab.observed(
    "With acks=all the second was not acknowledged", told["all"] == ["acknowledged", "_MSG_TIMED_OUT"]
)
lab.observed(
    "The record with acks=1 was gone after the heal", [e.number.producer for e in balance.lost] == [1]
)
guess.compare(
    "it is acknowledged, and the record is lost"
    if balance.lost
    else "it is acknowledged, and the record stays"
)

# %% [markdown]
# With `acks=all` a record counts when the whole ISR has it. The old leader cannot shrink its ISR: for that it must ask the active controller, and that is out of reach. So it waits, and the producer hears nothing, then an error. An error is honest: the producer may send the record again.
#
# **Epochs** end the quarrel when the network heals. The new leader has a higher leader epoch, so the old one gives way, cuts its log back to where both agree, and follows. The same idea is used three times: a number that grows with each change of office, and whoever comes with an older one is refused. Partition leaders have their leader epoch, the active controller has `LeaderEpoch`, and a producer with transactions has a producer epoch (lab 11).

# %% [markdown] covers="B068"
# ## The group's broker
#
# A consumer group has a broker of its own too: its **coordinator**. It knows the members and keeps the committed offsets. Which broker is it? The offsets are in a topic, `__consumer_offsets`. The group's name, hashed, chooses a partition, and the leader of that partition is the coordinator. So when it dies, the next replica takes over, with all offsets.
#
# While that happens, commits fail with errors such as `NOT_COORDINATOR`. They are retriable: the client looks for the new coordinator by itself. Old courses show such lines in red; they are the sound of a failover that works.

# %%
from threebrokers.lab.scenarios import coordinator_of, member_of_new_group, read_and_commit

lab.cluster.recover()
readings = lab.fresh_topic("readings", replication_factor=3)
producer = lab.producer({"acks": "all"})
for number in range(200):
    producer.produce(readings, str(number))
left = producer.flush()

# %% [markdown]
# Three helpers of this course for the next exercise:
#
# - `coordinator_of(lab, group)` returns the number of the broker that coordinates a group. It asks the AdminClient (`describe_consumer_groups`).
# - `member_of_new_group(lab, topic, prefix)` returns the name of a new group, and a consumer that is its member.
# - `read_and_commit(lab, consumer)` reads 20 records and commits them, however often that must be tried.

# %% [markdown]
# ### Exercise 4.3: Kill the coordinator
#
# `reader` is a member of the group `group` and has read and committed some records. Record with `lab.record(readings, groups=[group])` as `recording`: find the group's coordinator, kill that broker, and go on with `read_and_commit(lab, reader)`. Then set `after`: the broker that is the coordinator now.

# %%
lab.cluster.recover()
group, reader = member_of_new_group(lab, readings, lab.group("readers"))
# TODO: record as `recording` how you kill the coordinator and read on; who is the coordinator `after`?
# BEGIN SOLUTION
with lab.record(readings, groups=[group]) as recording:
    lab.cluster.kill(coordinator_of(lab, group))
    read_and_commit(lab, reader)
    after = coordinator_of(lab, group)
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Which of the three helpers asks who coordinates a group? When is its answer another one?
#
# </details>
# <details><summary>Another hint</summary>
#
# `with lab.record(…) as recording:` records while the lines in it run. Three lines are enough: the kill, the reading, and the question once more.
#
# </details>

# %% tags=["wrong"]
# nobody is killed | nobody was killed while
with lab.record(readings, groups=[group]) as recording:
    read_and_commit(lab, reader)
    after = coordinator_of(lab, group)

# %% tags=["wrong"]
# takes the partition's leader for the coordinator | leads the partition of
with lab.record(readings, groups=[group]) as recording:
    lab.cluster.kill(lab.cluster.state([readings]).topic(readings).partitions[0].leader)
    after = coordinator_of(lab, group)

# %% tags=["wrong"]
# says the old one | is the broker that you killed
with lab.record(readings, groups=[group]) as recording:
    after = coordinator_of(lab, group)
    lab.cluster.kill(after)
    read_and_commit(lab, reader)

# %% tags=["nbval-check-output"]
lab.check.group_goes_on(recording, after)

# %% [markdown] covers="E012 E013 E037 E089 E113 B026"
# ## When the active controller dies
#
# The active controller is one of the voters. The others read its log; if they get no answer for 1 s (`controller.quorum.fetch.timeout.ms`, Kafka's default is 2 s), they elect a new one. Each election has a higher `LeaderEpoch`, and whoever still speaks with an older epoch is not heard.
#
# A leader needs the votes of a **majority** of the voters: 2 of 3, 3 of 5. If the majority is gone nothing can be elected and no topic be made, though partitions whose leaders live go on for a while. In a large cluster there are three or five controllers on machines of their own, and they are changed one at a time.
#
# Beware of one answer: `describe_cluster()` of the AdminClient has a field `controller`. With KRaft it names *any* live broker, because clients no longer talk to the controller.

# %%
asked = [lab.admin().describe_cluster().result().controller.id for _ in range(5)]
print("describe_cluster names", asked, "and the active controller is", lab.cluster.state([]).quorum_leader)

# %% [markdown]
# ### Exercise 4.4: Kill the active controller
#
# Keep the output of `kafka-metadata-quorum describe --status` as `before`. Kill the active controller. When another one is active, keep the output as `after`. And `may_fail`: how many controllers of **five** may fail so that the quorum still works?

# %%
lab.cluster.recover()
# TODO: set `before`, kill the active controller, set `after`; and `may_fail`
# BEGIN SOLUTION
before = lab.cluster.tool("kafka-metadata-quorum", "describe", "--status")
leader = int(re.search(r"LeaderId:\s+(\d+)", before)[1])
lab.cluster.kill(leader)
lab.wait_until(
    lambda: lab.cluster.state([]).quorum_leader not in (None, leader),
    what="a new active controller",
    within=20,
)
after = lab.cluster.tool("kafka-metadata-quorum", "describe", "--status")
may_fail = 2
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Which line of the tool's output names the active controller? What is a majority of five, and how many voters are left over?
#
# </details>
# <details><summary>Another hint</summary>
#
# `lab.cluster.tool("kafka-metadata-quorum", "describe", "--status")` returns text; `re.search(r"LeaderId:\s+(\d+)", text)[1]` finds the number. `lab.cluster.state([]).quorum_leader` tells who is active now, or None.
#
# </details>

# %% tags=["wrong"]
# asks describe_cluster | names any live broker
before = str(lab.admin().describe_cluster().result().controller)
after = before
may_fail = 2

# %% tags=["wrong"]
# takes a partition's leader for the active controller | the leaders of partitions
before = lab.cluster.tool("kafka-topics", "--describe", "--topic", readings)
after = before
may_fail = 2

# %% tags=["wrong"]
# kills nobody | the same active controller in the same epoch
before = lab.cluster.tool("kafka-metadata-quorum", "describe", "--status")
after = before
may_fail = 2

# %% tags=["wrong"]
# all but one may fail | a quorum is not one controller
before = after = lab.cluster.tool("kafka-metadata-quorum", "describe", "--status")
may_fail = 4

# %% tags=["wrong"]
# confuses the majority with the rest | 3 is the majority itself
before = after = lab.cluster.tool("kafka-metadata-quorum", "describe", "--status")
may_fail = 3

# %% tags=["nbval-check-output"]
lab.check.controller_killed(before, after, may_fail)

# %% [markdown] covers="B130 D151 D152 D153 E115 E222"
# ## The last resort
#
# What if the leader dies and nobody in the ISR is left? Kafka waits until one of them returns. That is the default, and it is safe. A topic can choose otherwise: with `unclean.leader.election.enable=true` a replica that is *not* in sync may lead. Then the partition can be written again, and whatever that replica has not seen is gone. A bank would wait; who counts clicks may not.
#
# Here is how it happens. The topic has two replicas and is content with one (`min.insync.replicas=1`).
#
# 1. The follower loses its network and leaves the ISR.
# 2. Ten more records go to the leader, and it acknowledges them. The ISR is the leader alone, so it does so even with `acks=all`.
# 3. The leader loses its network too.
# 4. The **follower** comes back first.
#
# Beside it lies a topic with the same two replicas and `min.insync.replicas=2`.

# %% reading="each line is a part of the four steps of the text above"
from threebrokers.lab.scenarios import Asker

lab.cluster.recover()
leader, follower, _ = controller_last(lab)
settings = {"min.insync.replicas": "1", "unclean.leader.election.enable": "true"}
unclean = lab.fresh_topic("unclean", brokers=[leader, follower], config=settings)
guarded = lab.fresh_topic("guarded", brokers=[leader, follower], config={"min.insync.replicas": "2"})

ledger = lab.ledger("unclean")
producer = ledger.producer({"acks": "all", "linger.ms": 0, "retries": 0})
asker = Asker(lab, guarded)  # sends a record to `guarded` each time it is asked whether one was refused
for number in range(5):
    producer.produce(unclean, f"everybody has {number}")
left = producer.flush(10)

with lab.record(unclean, guarded) as recording:
    lab.cluster.cut(follower)
    lab.wait_until(lambda: partition_of(lab, unclean).isr == (leader,), what="an ISR of one", within=20)
    for number in range(5, 15):
        producer.produce(unclean, f"only the leader has {number}")
    left = producer.flush(10)
    lab.wait_until(asker.was_refused, what="a refusal", within=20)
    described = lab.cluster.tool("kafka-topics", "--describe", "--topic", guarded)
    lab.cluster.cut(leader, force=True)
    lab.cluster.heal(follower)
    for topic in [unclean, guarded]:
        lab.wait_until(
            lambda topic=topic: partition_of(lab, topic).leader == follower, what="a leader", within=30
        )
    lab.cluster.heal(leader)
    lab.cluster.recover()

# %%
balance = ledger.balance(unclean)
balance

# %%
lab.observed("The replica that was out of sync became the leader", balance.stored)
lab.observed(
    "Ten acknowledged records were lost, and no other",
    [e.number.sequence for e in balance.lost] == list(range(5, 15)),
)
lab.observed(
    "The topic that wants two replicas in sync refused the record",
    asker.refusals and None not in asker.answers,
)
print(next(line for line in described.splitlines() if "Partition: 0\t" in line))

# %% [markdown]
# The last line is of `guarded`, when its follower was away. Look at **Elr**: *eligible leader replicas*, new since Kafka 4.1 and not in any old book. The ISR was smaller than `min.insync.replicas`, so nothing could be acknowledged any more. So whoever left the ISR at that moment still has *everything* that was ever acknowledged, and may lead, although it is not in sync. That is why `guarded` had a leader again without any risk, and `unclean` paid with ten records.
#
# There is also a tool for this last resort: `kafka-leader-election --election-type unclean` elects such a leader once, by hand, for one partition.

# %% [markdown]
# ### Exercise 4.5: What went, and who took it
#
# Tell the story of `unclean` from `balance` and `recording`. Set `lost`: the list of **offsets** that the lost records had. Set `was_in_sync`: was the replica that was elected in the ISR, `True` or `False`? And `first`: which broker had to come back first so that nothing were lost?

# %%
# TODO: set `lost` (a list of offsets), `was_in_sync` (True or False) and `first` (a broker's number)
# BEGIN SOLUTION
lost = [entry.offset for entry in balance.lost]
was_in_sync = False
first = leader
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Which of the records did an ISR of one broker acknowledge? And who was that one? Look at `recording.show()`.
#
# </details>
# <details><summary>Another hint</summary>
#
# `balance.lost` is a list of entries with `number` and `offset`. In the recording each state has the partition's `isr`. The variables `leader` and `follower` are the two replicas.
#
# </details>

# %% tags=["wrong"]
# believes that a replica of the ISR was elected | was not in the ISR when
lost = [entry.offset for entry in balance.lost]
was_in_sync = True
first = leader

# %% tags=["wrong"]
# believes that everything is gone | are still there
lost = [entry.offset for entry in balance.acknowledged]
was_in_sync = False
first = leader

# %% tags=["wrong"]
# believes that acknowledged is safe | acknowledged means
lost = []
was_in_sync = False
first = leader

# %% tags=["wrong"]
# lets the follower come first | that is what happened
lost = [entry.offset for entry in balance.lost]
was_in_sync = False
first = follower

# %% tags=["nbval-check-output"]
lab.check.loss_told(ledger, recording, lost, was_in_sync, first)

# %% [markdown] covers="A014"
# ## And if all three die at once?
#
# Three crashes at once. What a broker has written is in the page cache of the machine (lab 02), and the machine stays on, so it is there again. A **power cut** is another thing: nobody closes the connections, and what is only in memory is gone. A record that was acknowledged may be in three page caches and on no disk yet; one power cut for all three machines would take it. (In production the three replicas are in three buildings, with three sources of power.)

# %%
lab.cluster.recover()
for broker in lab.cluster.brokers:
    lab.cluster.kill(broker, force=True)
lab.cluster.recover()

from threebrokers.kafka.log_reader import read_log

lab.observed("All 200 readings were there after three kills", len(read_log(lab.bootstrap, readings)) == 200)

# %% [markdown]
# ## What to remember
#
# - A dead broker is noticed by its silence: the active controller waits for the session's end, then the next in-sync replica of the list leads. How long *you* wait depends on your client as well.
# - `acks=all` with `min.insync.replicas=2` loses nothing when a leader dies or is cut off; `acks=1` acknowledges records that only one broker has.
# - Controllers need a majority, data needs one replica in sync. Whoever has the higher epoch is right.

# %% [markdown]
# ## Quiz
#
# 1. A colleague restarts brokers with `kill -9` "because it is faster". What does she pay?
#
# <details><summary>Answer</summary>
#
# About two seconds of silence for each partition that the broker leads (nine with Kafka's defaults), because it cannot hand its partitions over. A clean stop costs nearly nothing.
#
# </details>
#
# 2. Is ZooKeeper still needed?
#
# <details><summary>Answer</summary>
#
# No: since Kafka 4 it cannot even be used. Controllers keep the metadata in a Raft log of their own.
#
# </details>
#
# 3. What is the difference between failover and disaster recovery?
#
# <details><summary>Answer</summary>
#
# Failover happens inside the cluster, by itself, in seconds: another replica leads. Disaster recovery is for the loss of a whole site: another cluster has the same data, and people decide to use it (lab 19).
#
# </details>
#
# 4. Three combined brokers and controllers, two are down. A topic with three replicas has a live leader. May you write with `acks=1`? May you make a topic?
#
# <details><summary>Answer</summary>
#
# Writing to the leader that lives may go on for a while. A new topic needs the quorum, which has lost its majority; nor can any partition get a new leader.
#
# </details>
#
# 5. Your consumer gets nothing for minutes, without an error. All brokers are up. What may have happened?
#
# <details><summary>Answer</summary>
#
# It may talk to a broker that was cut off and answers "nothing new" in good faith. Compare its broker with the partition's leader, and mind `topic.metadata.refresh.interval.ms`.
#
# </details>

# %% [markdown]
# Compare with the [solution](../solutions/04_broker_failover.ipynb). Next lab: [What do the topics say?](12_spark_batch.ipynb)
