# %% [markdown]
# # What happens in the two seconds after a broker dies?
#
# **You will** stop, kill, freeze and cut off a broker and measure the silence that follows, write a producer that loses nothing when its leader dies, and choose what a topic does when nobody in sync is left.
#
# *{minutes} minutes, and {further} more if you go further. You need lab 03: leader, follower, ISR, high watermark.*

# %%
from threebrokers import open_lab

lab = open_lab("04")

# %% [markdown]
# Three questions from earlier labs, to see what is still there:

# %%
lab.review()

# %% [markdown] covers="C008 D103 E005 D099 D101 E093 E107 B125"
# ## Who notices that a broker is gone?
#
# A dead broker says nothing, so somebody must notice that it is silent. In every Kafka cluster one process (Kafka says *node*) is the **active controller**. It knows which brokers there are, and it chooses the leaders of partitions.
#
# - A broker that starts **registers** with it. From then on it sends a **heartbeat** every 0.3 s.
# - If the active controller hears nothing for 1.7 s, the broker's **session** is over. The broker is **fenced**: it shall not lead any more, and its partitions get other leaders.
#
# Who is it now?

# %%
print(lab.cluster.tool("kafka-metadata-quorum", "describe", "--status"))

# %% [markdown] covers="E092 E091" explains="controller, KRaft"
# `LeaderId` is the active controller, `CurrentVoters` are all controllers. Here each of the three nodes is broker and controller; in production controllers are usually processes of their own.
#
# The controllers are **voters**: they elect the active one, and a majority of them, the **quorum**, must agree on what is written. The protocol is Raft, in Kafka **KRaft**. They keep a log of everything that is known about the cluster: topics, leaders, ISRs, settings. The active controller leads that log, the other controllers follow it, and all brokers read it. So a new active controller has the whole log already.

# %% [markdown] covers="D101 B065 B067"
# ## Four ways to go silent
#
# A sensor (a producer) sends a reading twenty times a second, and a monitor (a consumer) shows it. The broker that leads their partition goes silent in four ways, one after the other:
#
# | | what is done | what is left |
# |---|---|---|
# | `stop` | a clean shutdown (the signal SIGTERM) | the broker hands its partitions over before it ends |
# | `kill` | the process crashes (SIGKILL, `kill -9`) | nothing; the operating system closes the connections |
# | `pause` | the process is frozen (in production: a long garbage collection, a stopped virtual machine, a disk that hangs) | the connections stand, and nobody answers |
# | `cut` | no network to the other brokers | the process lives, and clients still reach it |
#
# A **power cut** is not in the table. To a client it looks like `pause`: nobody closes the connections.
#
# Sensor and monitor have patience too: they wait 2.5 s for an answer.

# %%
guess_4a = lab.predict("4.a")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_4a.choose("0.5 s · 2 s · 4 s · until the network is mended")
# END SOLUTION

# %% [markdown]
# `Sensor` is a helper of this course. It makes the topic `sensor` afresh and runs both clients as long as its `with` lasts. `lab.cluster.recover()` brings every broker back, waits until all replicas are in sync, and lets the first replica of each partition lead.
#
# Beside it lie three topics with one, two and three replicas; the next section looks at their leaders. The active controller is not the victim: only one thing shall go wrong at a time.

# %%
others = [lab.fresh_topic(f"replicas-{n}", partitions=6, replication_factor=n) for n in (1, 2, 3)]

# %% [markdown]
# All four are in one recording, which takes about 20 s, on a busy machine up to a minute. After `stop`, `kill` and `pause` the cell waits until readings come again. The cut is mended 4 s after the others have a new leader; so it lasts about 6 s, more than twice the clients' patience.

# %%
import time

from threebrokers.lab.scenarios import Sensor, wait_for_new_leaders

PATIENCE = 2.5  # seconds
UNDO = {"stop": "start", "kill": "start", "pause": "resume", "cut": "heal"}
seen = {}  # who led the other topics, before and after each of the four

sensor = Sensor(lab, PATIENCE)
with lab.record(sensor.topic) as four_ways, sensor:
    for how, undo in UNDO.items():
        all_led = lab.cluster.state(others)
        getattr(lab.cluster, how)(sensor.leader)
        wait_for_new_leaders(lab, sensor.leader, sensor.topic, *others)
        seen[how] = all_led, lab.cluster.state(others)
        if how == "cut":
            time.sleep(4)
        else:
            sensor.wait()
        getattr(lab.cluster, undo)(sensor.leader)
        lab.cluster.recover()
        sensor.wait()

four_ways.show()

# %% [markdown]
# Read the picture from the top: what was done; then the clients' rows: readings that were *delivered* to the monitor, *acknowledged* to the sensor, and *sent*. A hatched gap is a silence. Below stand the brokers, the active controller, and who led the topic: a thin line in the broker's colour means that all is well, and a box says what is not. Point at a box, and it tells more.
#
# The same in seconds (`silences` is a helper, too):

# %%
import pandas as pd

from threebrokers.lab.scenarios import silences

silence = pd.DataFrame(silences(four_ways, sensor)).T
silence.round(1)

# %%
monitor = silence["monitor hears nothing"]
lab.observed("A clean stop was the shortest silence", monitor.idxmin() == "stop")
lab.observed("After the cut the monitor heard nothing before it was mended", monitor["cut"] > 2 * PATIENCE)
grows = monitor["stop"] < monitor["kill"] < monitor["cut"] and monitor["pause"] > PATIENCE
guess_4a.compare("0.5 s · 2 s · 4 s · until the network is mended" if grows else "2 s after each of the four")

# %% [markdown] covers="D115"
# - **stop**: the broker asks the active controller to move its partitions, and only then ends. Clients get the error *not leader*, ask any broker for new metadata (who leads what), and go on.
# - **kill**: connections break, so clients know at once. But there is no new leader before the session is over. Then up to a second more: a client that has no leader asks again in pauses that grow to 1 s.
# - **pause**: a new leader is there as soon as after `kill`, and the monitor does not look for it: nothing is broken, there is only no answer. Its own 2.5 s decide. To them come 0.5 s for which a broker may keep a request that finds nothing, and up to two seconds more: this client looks once a second whether its time is over, and may need another to find the leader.
# - **cut**: the others have a new leader as soon as before. The sensor's records with `acks=all` are not acknowledged, so it loses patience and asks again who leads. The monitor gets an answer to every request: "nothing new".
#
# New metadata would not help the monitor. This client renews them every 5 minutes, and asks the broker that it is connected to. The cut-off broker answers what it believes: "I lead." We tried a refresh each second (how is in `docs/decisions.md`): 15 of 15 consumers heard nothing for 11 s, until the network was mended. So watch the brokers, too, and not only the errors of your clients.
#
# *Delivered* may count more records than *sent*. Where do they come from? You will know it before exercise 4.2.

# %% [markdown]
# ### Exercise 4.1: Shorten a silence
#
# With the client's own settings a monitor would wait for a frozen broker for a minute. Yours may be silent for 5 s at most. Set `settings`, a dictionary of your consumer's settings, and measure with `frozen = frozen_leader(lab, settings)`. It freezes the leader until your consumer hears from the next one, but for 8 s at most, and returns the recording. (The sensor is no obstacle: it finds the next leader at once.)

# %%
from threebrokers.lab.scenarios import frozen_leader

# TODO: set `settings`, and `frozen`, the recording that frozen_leader(lab, settings) returns
# BEGIN SOLUTION
settings = {"socket.timeout.ms": 1000}
frozen = frozen_leader(lab, settings)
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Who waits for whom: the broker for the client, the group for its member, or the client for an answer? `frozen.show()` draws what happened.
#
# </details>
# <details><summary>Another hint</summary>
#
# It is not the group's session. The [client's list of settings](https://docs.confluent.io/platform/current/clients/librdkafka/html/md_CONFIGURATION.html) has one that bounds every network request, by default 60,000 ms. A frozen broker is a network request without an answer.
#
# </details>

# %% tags=["wrong"]
# takes the group's patience for its own | how long the group waits for a silent member
settings = {"session.timeout.ms": 1000}
frozen = frozen_leader(lab, settings)

# %% tags=["wrong"]
# believes that the broker counts the time | how long the broker may keep a request
settings = {"fetch.wait.max.ms": 100}
frozen = frozen_leader(lab, settings)

# %% tags=["wrong"]
# takes Java's name | Java's name
settings = {"request.timeout.ms": 1000}
frozen = frozen_leader(lab, settings)

# %% tags=["wrong"]
# changes nothing | as long as its leader
settings = {}
frozen = frozen_leader(lab, settings)

# %% tags=["wrong"]
# is more patient than it may be | it waits 20000 ms for an answer
settings = {"socket.timeout.ms": 20000}
frozen = frozen_leader(lab, settings)

# %% tags=["wrong"]
# shows the recording above | no broker was paused by this try
settings = {"socket.timeout.ms": 1000}
frozen = four_ways

# %% tags=["nbval-check-output"]
lab.check.silence_shortened(settings, frozen)

# %% [markdown]
# ## Who becomes the leader?
#
# The three other topics lost leaders as well. Each partition has a list of replicas, in an order that was chosen when the topic was made.

# %%
guess_4b = lab.predict("4.b")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_4b.choose("broker 3")
# END SOLUTION

# %%
from threebrokers.lab.scenarios import heirs

rows = heirs(*seen["kill"], sensor.leader)
pd.DataFrame(rows)

# %%
in_order = bool(rows) and all(row["leads after"] == row["next in the list"] for row in rows)
lab.observed("Every partition went to the next replica in its list that was in sync", in_order)
lab.observed(
    "A partition with one replica had no leader any more", "nobody" in {row["leads after"] for row in rows}
)
guess_4b.compare("broker 3" if in_order else "whichever answers first")

# %% [markdown] covers="B023 B066 B126 B131 B133 D105"
# No vote is held. The active controller takes the first replica of the list that is alive and in the ISR. All of the ISR hold every record that was acknowledged with `acks=all`, so any of them will do.
#
# - With **one replica** nobody is left. The partition is *offline* until its broker returns.
# - With **two or three replicas** one broker may die, and the partition goes on.
#
# That is why Kafka needs few replicas. With $f+1$ of them $f$ brokers may die, and the data are still there; writing goes on as long as `min.insync.replicas` are left. A system in which a majority must agree on every record needs $2f+1$. Kafka pays elsewhere: the list of who is in sync must itself be safe. It stands in the controllers' log, which *is* kept by a majority.

# %% [markdown] explains="split brain"
# ## Split brain
#
# After the cut the old leader did not know that another one had been chosen. For some seconds two brokers believed that they lead. Which of them is right? Let us write to the *old* one. We use two producers: one wants `acks=1`, the other `acks=all`. One that asks for metadata could find the new leader, so both start before the cut and do not ask again. A **ledger**, a helper of this course, makes them: it numbers what its producers send, and tells what was acknowledged, lost, or stored twice.
#
# Now the old leader is cut off from the other brokers, and clients still reach it.

# %%
guess_4c = lab.predict("4.c")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_4c.choose("it is acknowledged, and the record is lost")
# END SOLUTION

# %%
from threebrokers.lab.scenarios import controller_last, partition_of, two_writers

lab.cluster.recover()
cut_off = lab.fresh_topic("cut-off", brokers=controller_last(lab), config={"min.insync.replicas": "2"})
split_ledger = lab.ledger("split-brain")
writers, told = two_writers(split_ledger)  # with acks=1 and acks="all"; and what each of them is told
for writer in writers.values():
    writer.produce(cut_off, b"before the cut")
    writer.flush()
old = partition_of(lab, cut_off).leader
lab.cluster.cut(old)
wait_for_new_leaders(lab, old, cut_off)
for writer in writers.values():
    writer.produce(cut_off, b"while two brokers believe that they lead")
for writer in writers.values():
    writer.flush()
split = partition_of(lab, cut_off)
lab.cluster.heal(old)
lab.cluster.recover()

# %%
print(
    f"new leader: {split.leader}, epoch {split.leader_epoch}; believes that it leads: {split.stale_leaders}"
)
print("told to the producers:", told)
split_balance = split_ledger.balance(cut_off)
split_balance

# %%
lab.observed("Two brokers believed that they lead", split.stale_leaders == (old,))
lab.observed("With acks=1 both were acknowledged", told[1] == ["acknowledged"] * 2)
lab.observed("With acks=all the second was not", told["all"] == ["acknowledged", "_MSG_TIMED_OUT"])
gone = [entry.number.producer for entry in split_balance.lost]
lab.observed("The second record with acks=1 was gone after the heal, and no other", gone == [1])
guess_4c.compare(f"it is acknowledged, and the record {'is lost' if gone else 'stays'}")

# %% [markdown] covers="E094"
# The old leader is fenced, and does not know it. So it still takes records with `acks=1`. With `acks=all` a record counts when the whole ISR has it. To shrink its ISR the old leader must ask the active controller, and that one is out of reach. So it waits, and the producer gets an error in the end. An error is honest: it promises nothing. (After a time-out a record may be stored all the same, so to send it again may double it: lab 10. Here the heal cut it off.)

# %% [markdown] covers="B069 D106 E101 E090 D104" explains="leader epoch"
# **The way back.** When the network heals, or a dead broker returns, its replicas become followers. Each asks the new leader: "up to which offset do we agree?" Every leader has a number, the **leader epoch**, and every batch carries the epoch in which it was written; so both can tell. What the new leader does not have is cut off, also if the old one had acknowledged it. Then the follower fetches the rest, and is in the ISR again.
#
# Kafka uses epochs in several places: a number grows with each election, and whoever comes with a lower one is refused. Partition leaders have a leader epoch, the active controller has `LeaderEpoch`, and a producer with transactions has a producer epoch (lab 11).
#
# The returned broker does not lead again at once: Kafka looks every 300 s whether the first replica of a partition could lead (off in this lab). `lab.cluster.recover()` did it, as you did in lab 03 with `elect_leaders`.

# %% [markdown] covers="B067"
# ## Two producers, and a leader that dies
#
# Two producers send the same 200 numbers, and their leader is taken away on the way. `through_a_kill(lab, topic)` gives out the numbers, and breaks the cluster meanwhile:
#
# | numbers | what happens | who has them |
# |---|---|---|
# | 0–49 | nothing | all three brokers |
# | 50–99 | the third broker cannot fetch from the leader | the leader and the second broker |
# | 100–149 | the second cannot either | the leader alone |
# | 150–199 | the leader is killed, and stays down | nobody, before the second leads |
#
# The first producer is written in a hurry: `acks=1`, it gives up after a second, and its program does not wait for the reports. The second asks for `acks=all`, gives up after five minutes, and waits with `flush()`.

# %%
guess_4d = lab.predict("4.d")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_4d.choose("the first loses numbers, the second has some twice")
# END SOLUTION

# %%
from threebrokers.lab.scenarios import through_a_kill

lab.cluster.recover()
numbers = lab.fresh_topic("through-a-kill", brokers=controller_last(lab), config={"min.insync.replicas": "2"})
ledgers = {name: lab.ledger(name) for name in ("hurried", "careful")}
hurried = ledgers["hurried"].producer({"acks": 1, "message.timeout.ms": 1000})
careful = ledgers["careful"].producer({"acks": "all"})
for number in through_a_kill(lab, numbers, producers=2):
    for sender in (hurried, careful):
        sender.produce(numbers, str(number))
        sender.poll(0)
careful.flush()
lab.cluster.recover()

# %%
from threebrokers.ledger import compare

balances = {name: ledger.balance(numbers) for name, ledger in ledgers.items()}
compare(balances)

# %%
first, second = balances["hurried"], balances["careful"]
lab.observed("The hurried producer lost records that were acknowledged", first.lost)
lab.observed("It never heard of some others", first.unknown)
lab.observed("The careful producer lost none", not second.lost and not second.failed)
guess_4d.compare(
    f"{'the first loses numbers' if first.lost else 'neither loses any'}, "
    f"the second has {'some twice' if second.duplicated else 'each number once'}"
)

# %% [markdown]
# `lost` is what had been acknowledged: the leader alone had it, the second broker leads now, and when the old leader returned it cut its log back. `no report` are records of which the program never learned. And `twice`? The second broker had these records before the leader died, but the third broker did not have them yet. So they were not acknowledged, and the producer sent them again. (So did the sensor above, if more was *delivered* than *sent*.)

# %% [markdown]
# ### Exercise 4.2: A producer that loses nothing
#
# This is the hurried producer:
#
# ```python
# producer = ledger.producer({"acks": 1, "message.timeout.ms": 1000})
# for number in through_a_kill(lab, transfers):
#     producer.produce(transfers, str(number))
#     producer.poll(0)
# ```
#
# Change it as little as you can, so that every number is in `transfers` in the end, none is there twice, and the program knows that. Look at `ledger.balance(transfers)` after each try: what is *lost*, what has *no report*, what is there *twice*?

# %%
lab.cluster.recover()
transfers = lab.fresh_topic("transfers", brokers=controller_last(lab), config={"min.insync.replicas": "2"})
ledger = lab.ledger("transfers")
# TODO: make the `producer` and send each number of through_a_kill(lab, transfers)
# BEGIN SOLUTION
producer = ledger.producer({"enable.idempotence": True})
for number in through_a_kill(lab, transfers):
    producer.produce(transfers, str(number))
    producer.poll(0)
left = producer.flush()
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Who must have a record before it counts? How long may the producer try, compared with the time until there is a new leader? How does your program learn what became of the last records?
#
# </details>
# <details><summary>Another hint</summary>
#
# `acks`, `message.timeout.ms` and `flush()` decide what is lost. For *twice*, look for the word *idempotence* in the [client's settings](https://docs.confluent.io/platform/current/clients/librdkafka/html/md_CONFIGURATION.html), and read what that setting asks of the others.
#
# </details>

# %% tags=["wrong"]
# leaves it as it is | with acks=1: only the leader had them
producer = ledger.producer({"acks": 1, "message.timeout.ms": 1000})
for number in through_a_kill(lab, transfers):
    producer.produce(transfers, str(number))
    producer.poll(0)

# %% tags=["wrong"]
# acks=0 | acks=0: nobody acknowledges anything
producer = ledger.producer({"acks": 0})
for number in through_a_kill(lab, transfers):
    producer.produce(transfers, str(number))
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

# %% tags=["wrong"]
# stops at acks=all | twice in the topic: the next leader had
producer = ledger.producer({"acks": "all"})
for number in through_a_kill(lab, transfers):
    producer.produce(transfers, str(number))
producer.flush()

# %% tags=["wrong"]
# does not wait for the reports | have no delivery report
producer = ledger.producer({"enable.idempotence": True})
for number in through_a_kill(lab, transfers):
    producer.produce(transfers, str(number))

# %% tags=["wrong"]
# sends where nothing breaks | nobody was killed while
producer = ledger.producer({"acks": 1})
for number in range(200):
    producer.produce(transfers, str(number))
producer.flush()

# %% tags=["wrong"]
# sends a part | of 200 records were sent through the ledger
producer = ledger.producer({"enable.idempotence": True})
for number in through_a_kill(lab, transfers):
    if number % 10 == 0:
        producer.produce(transfers, str(number))
producer.flush()

# %% tags=["wrong"]
# sends again by hand | your program has sent them twice
producer = ledger.producer({"enable.idempotence": True})
for number in through_a_kill(lab, transfers):
    producer.produce(transfers, str(number))
for number in range(50, 100):
    producer.produce(transfers, str(number))
producer.flush()

# %% tags=["wrong"]
# counts from one | record of the topic has another value
producer = ledger.producer({"enable.idempotence": True})
for number in through_a_kill(lab, transfers):
    producer.produce(transfers, str(number + 1))
producer.flush()

# %% tags=["wrong"]
# asks the lab for a producer | is not one of the ledger
producer = lab.producer({"acks": "all", "retries": 0})
for number in through_a_kill(lab, transfers):
    producer.produce(transfers, str(number))
producer.flush()

# %% tags=["right"]
# sends all of them in one transaction
producer = ledger.producer({"transactional.id": lab.topic("transfers")})
producer.init_transactions()
producer.begin_transaction()
for number in through_a_kill(lab, transfers):
    producer.produce(transfers, str(number))
    producer.poll(0)
producer.commit_transaction(60)

# %% tags=["nbval-check-output"]
lab.check.nothing_lost(producer)

# %% [markdown] explains="idempotent producer"
# An **idempotent** producer gets a number from the brokers and counts its records for each partition. Every replica notes with a batch that number, and the count of its first record. So the next leader recognises a batch that comes again, acknowledges it, and does not store it twice. The setting also asks for `acks=all`. Java's producer does this by default since Kafka 3.0 (proposal KIP-679), this client does not. It knows nothing of what your *program* sends again, for example after a restart.

# %% [markdown] covers="B130 D151 D152 D153 E115 E222" explains="unclean.leader.election.enable"
# ## The last resort
#
# What if the leader dies and nobody in the ISR is left? Kafka waits until one of the last replicas in sync returns, or another replica that has all that was acknowledged with `acks=all` (*ELR*, below). That is the default. A topic can choose otherwise: with `unclean.leader.election.enable=true` a replica that is *not* in sync may lead. Then the partition can be written again.
#
# Here is how it comes to that. The topic `likes` has two replicas and is content with one (`min.insync.replicas=1`). A careful producer sends with `acks=all`.
#
# 1. Some records are there already. Five more go to both replicas.
# 2. The follower loses its network and leaves the ISR.
# 3. Ten more records go to the leader, and it acknowledges each of them: the ISR is the leader alone.
# 4. The leader loses its network too, and the **follower** comes back first. Later the leader returns.

# %%
guess_4e = lab.predict("4.e")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_4e.choose("5")
# END SOLUTION

# %%
from threebrokers.lab.scenarios import two_outages

lab.cluster.recover()
leader, follower, _ = controller_last(lab)
unclean = {"min.insync.replicas": "1", "unclean.leader.election.enable": "true"}
likes = lab.fresh_topic("likes", brokers=[leader, follower], config=unclean)
guarded = lab.fresh_topic("guarded", brokers=[leader, follower], config={"min.insync.replicas": "2"})
likes_ledger = lab.ledger("likes")
with lab.record(likes, guarded) as outages:
    in_step_3 = two_outages(lab, likes, likes_ledger, guarded)
outages.show()

# %%
likes_balance = likes_ledger.balance(likes)
likes_balance

# %%
lost = [entry.number.sequence for entry in likes_balance.lost]
lab.observed("All 15 were acknowledged", len(likes_balance.acknowledged) == 15)
lab.observed("The ten that only the leader had were lost, and no other", lost == list(range(5, 15)))
guess_4e.compare(len(likes_balance.stored))

# %% [markdown]
# `acks=all` means "all that are in sync", and that was one broker. The ledger tells the lost records by their numbers, 5 to 14, and by the offsets that they had: seven older records, and those with the numbers 0 to 4, stand before them. The next records get the same offsets again. So a consumer that had read to the end before may not notice that these are others.

# %% [markdown]
# ### Exercise 4.3: Lose nothing the next time
#
# The topic `bills` will see the same two outages. Choose its settings, so that no acknowledged record is lost. You can do it in more than one way, and each has its price. Set `bills`, a topic with your settings, call `two_outages(lab, bills, bills_ledger)`, and look into the ledger. Then set `price`: `"refused"` if the brokers refused records meanwhile, `"waited"` if the partition waited for a replica.

# %%
lab.cluster.recover()
brokers = controller_last(lab)[:2]
bills_ledger = lab.ledger("bills")
# TODO: make `bills` with lab.fresh_topic("bills", brokers=brokers, config=…), call two_outages(…), set `price`
# BEGIN SOLUTION
bills = lab.fresh_topic("bills", brokers=brokers, config={"min.insync.replicas": "2"})
two_outages(lab, bills, bills_ledger)
price = "refused"
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Two things came together: a record was acknowledged that one broker had, and another broker became the leader. Which setting of `likes` allowed the one, and which the other?
#
# </details>
# <details><summary>Another hint</summary>
#
# `min.insync.replicas` and `unclean.leader.election.enable`; values are text. `bills_ledger.balance(bills)` tells what was acknowledged, what failed, and what is stored.
#
# </details>

# %% tags=["wrong"]
# changes nothing | are lost again
bills = lab.fresh_topic("bills", brokers=brokers, config=unclean)
two_outages(lab, bills, bills_ledger)
price = "waited"

# %% tags=["wrong"]
# sees refusals where the partition waited | no record was refused
bills = lab.fresh_topic("bills", brokers=brokers)
two_outages(lab, bills, bills_ledger)
price = "refused"

# %% tags=["wrong"]
# sees waiting where records were refused | failed while the leader was alone
bills = lab.fresh_topic("bills", brokers=brokers, config={"min.insync.replicas": "2"})
two_outages(lab, bills, bills_ledger)
price = "waited"

# %% tags=["wrong"]
# tries nothing | nobody was cut off
bills = lab.fresh_topic("bills", brokers=brokers, config={"min.insync.replicas": "2"})
price = "refused"

# %% tags=["wrong"]
# answers in a word of its own | it should be one of
bills = lab.fresh_topic("bills", brokers=brokers, config={"min.insync.replicas": "2"})
two_outages(lab, bills, bills_ledger)
price = "writes"

# %% tags=["right"]
# lets any replica lead, and mends the topic before the accident
bills = lab.fresh_topic("bills", brokers=brokers, config=unclean)
lab.cluster.tool("kafka-configs", "--alter", "--topic", bills, "--add-config", "min.insync.replicas=2")
two_outages(lab, bills, bills_ledger)
price = "refused"

# %% tags=["nbval-check-output"]
lab.check.loss_prevented(bills, price)

# %% [markdown]
# A bank would refuse or wait; who counts likes may take the loss and go on at once. (You can also elect a replica that is out of sync by hand, once, for one partition: `kafka-leader-election --election-type unclean`.)
#
# Beside `likes` lay `guarded`, with `min.insync.replicas=2`. Here are both in step 3, while the follower was away:


# %%
pd.DataFrame(in_step_3)

# %% [markdown]
# **ELR** are the *eligible leader replicas* (`kafka-topics --describe` has a column `Elr`). In `guarded` the ISR was smaller than `min.insync.replicas`, so nothing could be acknowledged with `acks=all`. So whoever left the ISR at that moment still has *everything* that was ever acknowledged so. It may lead although it is not in sync, without loss. In `likes` one replica is enough to acknowledge, so nobody else is eligible.
#
# After a crash Kafka does not count on that: it cannot tell a `kill -9` from a power cut, which takes what was only in memory. So a broker that crashed is taken out of the ELR when it starts again, and its replica waits for one that has everything. If all have crashed, nobody is sure to have it: then the one that led last leads again when it is back, with what its disk kept.
#
# ELR exist since Kafka 4.0, and are on in clusters that were new with 4.1 or later (proposal KIP-966). An upgraded cluster must switch them on (`kafka-features`, `eligible.leader.replicas.version`). Old books do not know them.

# %% [markdown] covers="A014"
# ## And if all three die at once?
#
# The 200 numbers of the careful producer are on three brokers. Now all three processes crash at once, and start again. Nobody has told a broker to flush anything to its disk.

# %%
guess_4g = lab.predict("4.g")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_4g.choose("all 200")
# END SOLUTION

# %%
lab.cluster.recover()
for broker in lab.cluster.brokers:
    lab.cluster.kill(broker, force=True)
lab.cluster.recover()
left = {entry.number for entry in ledgers["careful"].balance(numbers).stored}
guess_4g.compare({200: "all 200", 0: "none"}.get(len(left), "a part of them"))

# %% [markdown] explains="power cut"
# What a broker has written is first in memory of the operating system, its *page cache*. The machine stayed on, so it was there again. A **power cut** is another thing: what is only in memory is gone. A record that was acknowledged may be in three page caches and on no disk yet; one power cut for all three machines would take it. So in production the three replicas should be in three buildings, or at least on three sources of power (`broker.rack`).

# %% [markdown]
# ## Here and in production
#
# | | here | Kafka's default |
# |---|---|---|
# | a broker is missed after (`broker.session.timeout.ms`) | 1.7 s | 9 s |
# | its heartbeats (`broker.heartbeat.interval.ms`) | 0.3 s | 2 s |
# | a silent active controller is missed after (`controller.quorum.fetch.timeout.ms`) | 1 s | 2 s |
# | a slow follower leaves the ISR after (`replica.lag.time.max.ms`) | 4 s | 30 s |
# | the first replica leads again by itself (`auto.leader.rebalance.enable`) | no | yes, looks every 300 s |
# | sensor and monitor wait for an answer | 2.5 s | 60 s; Java 30 s |
# | nodes | 3, each broker and controller | controllers apart |
#
# So with the defaults a kill costs 9 s or more, and a frozen broker, or a power cut, a minute or a little more.

# %% [markdown]
# ## What to remember
#
# - A dead broker is noticed by its silence: the active controller waits for the end of its session, then the next in-sync replica of the list leads. How long *you* wait depends on your client as well.
# - `acks=all` with `min.insync.replicas=2` loses nothing when one leader dies or is cut off, and idempotence stores nothing twice; `acks=1` acknowledges records that only one broker has.
# - Controllers need a majority, data need one replica in sync. Whoever has the higher epoch is right.

# %% [markdown] covers="B026"
# ## Quiz
#
# Each answer is explained when you have chosen it. The first one is kept with your progress, on this machine.

# %%
lab.quiz()

# %% [markdown]
# ## Going further
#
# What follows is not needed for the next lab. Its cells use names of the cells above: run those first.

# %% [markdown]
# ### The same settings in Java
#
# The client of this course is librdkafka (also under Go, C# and Rust). Java's has other names and defaults:
#
# | librdkafka | Java | what it bounds |
# |---|---|---|
# | `socket.timeout.ms` 60,000 | `request.timeout.ms` 30,000 | one answer |
# | `message.timeout.ms`, or `delivery.timeout.ms`, 300,000 | `delivery.timeout.ms` 120,000 | all tries of one record |
# | `topic.metadata.refresh.interval.ms` 300,000 | `metadata.max.age.ms` 300,000 | the age of what it knows about leaders |
# | `enable.idempotence` false | true | |

# %% [markdown] covers="A041 B047 E011" explains="ZooKeeper"
# ### And ZooKeeper?
#
# It was a system beside Kafka. It kept the list of live brokers, topics, settings and ISRs, in very old versions also the offsets of consumers. One of the *brokers* was the controller, and ZooKeeper held its election. KRaft is for production since Kafka 3.3 (proposal KIP-833), and Kafka 4.0 knows nothing else. Old books tell you to start ZooKeeper first; today there is nothing to start.

# %% [markdown] covers="E013 E037 E089"
# ### When the active controller dies
#
# The active controller is one of the voters. The others read its log; if they get no answer for 1 s, they elect a new one. Each election has a higher `LeaderEpoch`, and whoever still speaks with an older epoch is refused.
#
# It takes a **majority** of all voters to elect, and to write into the log. A large cluster has three or five controllers on machines of their own, for this cluster only. Where their list is kept in the log itself (`kraft.version` 1), they are exchanged one at a time (`kafka-metadata-quorum add-controller`, `remove-controller`); not here, where a setting of each broker names them (`controller.quorum.voters`).
#
# `kafka-metadata-quorum describe --replication` shows how far each voter is behind (`Lag`): look at it before you restart the next controller.
#
# Beware of one answer: `describe_cluster()` of the AdminClient has a field `controller`. With KRaft it names *any* live broker.

# %%
asked = [lab.admin().describe_cluster().result().controller.id for _ in range(5)]
print("describe_cluster names", asked, "and the active controller is", lab.cluster.state([]).quorum_leader)

# %% [markdown]
# In the next exercise the active controller dies, and the sensor's partition has its two replicas on the other two brokers.

# %%
guess_4f = lab.predict("4.f")
# TODO: choose an answer: press its button
# BEGIN SOLUTION
guess_4f.choose("nothing: readings come as before")
# END SOLUTION

# %% [markdown]
# ### Exercise 4.4: Kill the active controller
#
# Do four things in `with far_sensor, handover:`, one after the other. Keep the output of `kafka-metadata-quorum describe --status` as `before`. Kill the active controller. At once make a topic, with `lab.fresh_topic("during")`: it waits until there is somebody who can do that. Keep the output once more as `after`.
#
# And set `may_fail`, a dictionary: of 3, of 4 and of 5 controllers, how many may fail so that the others can still elect?

# %%
lab.cluster.recover()
far_sensor = Sensor(lab, PATIENCE, brokers=controller_last(lab)[:2])
lab.delete_topic("during")  # if an earlier try has made it
handover = lab.record(far_sensor.topic, lab.topic("during"))
# TODO: `with far_sensor, handover:` set `before`, kill the active controller, make "during", set `after`; then `may_fail`
# BEGIN SOLUTION
status = "kafka-metadata-quorum", "describe", "--status"
with far_sensor, handover:
    before = lab.cluster.tool(*status)
    lab.cluster.kill(lab.cluster.state([]).quorum_leader)
    lab.fresh_topic("during")
    after = lab.cluster.tool(*status)
may_fail = {3: 1, 4: 1, 5: 2}
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Which line of the tool's output names the active controller? What is a majority of four, and how many voters are left over?
#
# </details>
# <details><summary>Another hint</summary>
#
# `lab.cluster.tool("kafka-metadata-quorum", "describe", "--status")` returns text. `lab.cluster.state([]).quorum_leader` is the number of the active controller, or None while there is none.
#
# </details>

# %% tags=["wrong"]
# asks describe_cluster | names any live broker
with far_sensor, handover:
    before = after = str(lab.admin().describe_cluster().result().controller)
may_fail = {3: 1, 4: 1, 5: 2}

# %% tags=["wrong"]
# takes a partition's leader for the active controller | the leaders of partitions
with far_sensor, handover:
    before = after = lab.cluster.tool("kafka-topics", "--describe", "--topic", far_sensor.topic)
may_fail = {3: 1, 4: 1, 5: 2}

# %% tags=["wrong"]
# kills nobody | no broker was killed by this try
with far_sensor, handover:
    before = after = lab.cluster.tool("kafka-metadata-quorum", "describe", "--status")
may_fail = {3: 1, 4: 1, 5: 2}

# %% tags=["wrong"]
# stops it cleanly | was stopped, and so it could hand over
with far_sensor, handover:
    before = lab.cluster.tool("kafka-metadata-quorum", "describe", "--status")
    lab.cluster.stop(lab.cluster.state([]).quorum_leader)
    after = lab.cluster.tool("kafka-metadata-quorum", "describe", "--status")
may_fail = {3: 1, 4: 1, 5: 2}

# %% tags=["wrong"]
# kills the sensor's leader | was killed; it should be broker
with far_sensor, handover:
    before = lab.cluster.tool("kafka-metadata-quorum", "describe", "--status")
    lab.cluster.kill(far_sensor.leader)
    after = lab.cluster.tool("kafka-metadata-quorum", "describe", "--status")
may_fail = {3: 1, 4: 1, 5: 2}

# %% tags=["wrong"]
# mixes up the two texts | the two have changed places
with far_sensor, handover:
    after = lab.cluster.tool("kafka-metadata-quorum", "describe", "--status")
    lab.cluster.kill(lab.cluster.state([]).quorum_leader)
    lab.fresh_topic("during")
    before = lab.cluster.tool("kafka-metadata-quorum", "describe", "--status")
may_fail = {3: 1, 4: 1, 5: 2}

# %% tags=["wrong"]
# looks twice before the kill | the second should be of the time when another
with far_sensor, handover:
    before = after = lab.cluster.tool("kafka-metadata-quorum", "describe", "--status")
    lab.cluster.kill(lab.cluster.state([]).quorum_leader)
may_fail = {3: 1, 4: 1, 5: 2}

# %% tags=["wrong"]
# all but one may fail | one is left, and one is not a majority
before = after = lab.cluster.tool("kafka-metadata-quorum", "describe", "--status")
may_fail = {3: 2, 4: 3, 5: 4}

# %% tags=["wrong"]
# confuses the majority with the rest | is the majority of 5 itself
before = after = lab.cluster.tool("kafka-metadata-quorum", "describe", "--status")
may_fail = {3: 1, 4: 1, 5: 3}

# %% tags=["wrong"]
# believes that half is enough | half is no majority
before = after = lab.cluster.tool("kafka-metadata-quorum", "describe", "--status")
may_fail = {3: 1, 4: 2, 5: 2}

# %% tags=["wrong"]
# asks how far each node has read | prints with --replication
with far_sensor, handover:
    before = after = lab.cluster.tool("kafka-metadata-quorum", "describe", "--replication")
may_fail = {3: 1, 4: 1, 5: 2}

# %% tags=["nbval-check-output"]
lab.check.controller_killed(before, after, may_fail, handover)

# %% [markdown] covers="E012 E113"
# A fourth controller would not help: of four, three must agree. So their number is odd.
#
# Without an active controller nothing can be elected and no topic be made: the call for `during` waited. And the clients?

# %%
death = handover.action("kill")
made = next(state.at for state in handover.states if state.quorum_leader not in (None, death.broker))
silent = max(handover.longest_gap(kind).seconds for kind in ("acknowledged", "delivered"))
print(f"Another controller was active after {made - death.at:.1f} s.")
print(f"The longest silence of sensor and monitor was {silent:.1f} s.")
guess_4f.compare(
    "nothing: readings come as before" if silent < 1.5 else "silence, until there is a new active controller"
)

# %% [markdown]
# Clients talk to the leaders of their partitions, and these need the active controller only when something changes. So even if the majority is gone, and no leader can be elected and no topic be made, partitions whose leaders live go on for a while. And `describe_cluster()` may name any broker, because no client needs to know the controller.
#
# (Were one of the replicas on the dead broker, a record with `acks=all` would wait: for the new controller, and then for the end of the dead broker's session.)

# %% [markdown] covers="B068"
# ### The group's broker
#
# A consumer group has a broker of its own too: its **coordinator**. It knows the members and keeps the committed offsets. Which broker is it? The offsets are in a topic, `__consumer_offsets`. The group's name, hashed, chooses a partition, and the leader of that partition is the coordinator. So when it dies, the next replica takes over, with all offsets.
#
# Meanwhile brokers answer a commit with errors such as `NOT_COORDINATOR` or `COORDINATOR_LOAD_IN_PROGRESS`. These errors pass: the client looks for the new coordinator, and tries again. This client does most of that by itself, so you will hardly see one. Java's client and old courses print such lines as warnings; they belong to a failover that works.

# %%
from threebrokers.lab.scenarios import coordinator_of, member_of_new_group, read_and_commit

lab.cluster.recover()
readings = lab.fresh_topic("readings", replication_factor=3)
writer = lab.producer({"acks": "all"})
for number in range(200):
    writer.produce(readings, str(number))
left = writer.flush()

# %% [markdown]
# Three helpers of this course for the next exercise:
#
# - `coordinator_of(lab, group)` returns the number of the broker that coordinates a group. It asks the AdminClient (`describe_consumer_groups`).
# - `member_of_new_group(lab, topic, prefix)` returns the name of a new group, and a consumer that is its member and has committed 20 records.
# - `read_and_commit(lab, consumer)` reads 20 records and commits them, however often that must be tried.

# %% [markdown]
# ### Exercise 4.5: Kill the coordinator
#
# `reader` is a member of the group `group`. In `with takeover:`, which records, find the group's coordinator, kill that broker, and go on with `read_and_commit(lab, reader)`. Then set `next_one`: the broker that is the coordinator now.

# %%
lab.cluster.recover()
group, reader = member_of_new_group(lab, readings, lab.group("readers"))
takeover = lab.record(readings, groups=[group])
# TODO: in `with takeover:` kill the coordinator and read on; which broker is the `next_one`?
# BEGIN SOLUTION
with takeover:
    lab.cluster.kill(coordinator_of(lab, group))
    read_and_commit(lab, reader)
    next_one = coordinator_of(lab, group)
# END SOLUTION

# %% [markdown]
# <details><summary>Hint</summary>
#
# Which of the three helpers asks who coordinates a group? When is its answer another one?
#
# </details>
# <details><summary>Another hint</summary>
#
# `with takeover:` records while the lines in it run. Three lines are enough: the kill, the reading, and the question once more.
#
# </details>

# %% tags=["wrong"]
# nobody is killed | no broker was killed by this try
with takeover:
    read_and_commit(lab, reader)
    next_one = coordinator_of(lab, group)

# %% tags=["wrong"]
# takes the partition's leader for the coordinator | leads the partition of
with takeover:
    lab.cluster.kill(lab.cluster.state([readings]).topic(readings).partitions[0].leader)
    next_one = coordinator_of(lab, group)

# %% tags=["wrong"]
# stops it cleanly | was stopped, and so it could hand over
with takeover:
    lab.cluster.stop(coordinator_of(lab, group))
    read_and_commit(lab, reader)
    next_one = coordinator_of(lab, group)

# %% tags=["wrong"]
# records nothing | did not record the group
lab.cluster.kill(coordinator_of(lab, group))
read_and_commit(lab, reader)
next_one = coordinator_of(lab, group)

# %% tags=["wrong"]
# says the old one | is the broker that you killed
with takeover:
    next_one = coordinator_of(lab, group)
    lab.cluster.kill(next_one)
    read_and_commit(lab, reader)

# %% tags=["wrong"]
# reads no more | when its coordinator died, and 20 in the end
with takeover:
    lab.cluster.kill(coordinator_of(lab, group))
    next_one = coordinator_of(lab, group)

# %% tags=["nbval-check-output"]
lab.check.group_goes_on(takeover, next_one)

# %% [markdown] covers="E092"
# ### The log that decides
#
# What the active controller decides stands in the controllers' own log, `__cluster_metadata`. It is a log like any other, in files like any other, and the dump tool of lab 02 reads it (`kafka-dump-log --cluster-metadata-decoder`). `decisions` is a helper of this course: it takes what the tool prints about brokers and partitions, and says it in words. Here is what was written between the kill and the return in the first experiment. (*A topic* is one that was deleted since: the sensor's, which exercise 4.4 made anew.)

# %%
from threebrokers.lab.scenarios import decisions

crash = four_ways.action("kill")
back = next(action for action in four_ways.actions if action.at > crash.at)
written = decisions(lab, crash.at, back.at)
fenced = f"broker {crash.broker} is fenced"
lab.observed("The log says that the broker was fenced", fenced in [words for _, _, words in written])
pd.DataFrame(written, columns=["offset", "type", "what it says"])

# %% [markdown]
# One record tells of a partition: who leads it from now on, who is in sync. Another says that the broker is fenced. All of them were written together, when the session of 1.7 s was over. Every broker reads this log, so all of them know it a moment later.

# %% [markdown] covers="A121 D055"
# ### A partition that nobody leads
#
# A key chooses its partition among *all* partitions, also those that nobody leads; otherwise an outage would move keys to other partitions. A record without a key may go anywhere. A broker is frozen once more, and 66 records go to the topic with one replica: one for each partition by key, and 60 without a key.

# %%
from confluent_kafka import consistent

from threebrokers.lab.scenarios import leaderless_everywhere

lab.cluster.recover()
single, gone = others[0], controller_last(lab)[0]
led = lab.cluster.state([single]).topic(single).partitions
by_partition = {consistent(str(key).encode(), len(led)): str(key) for key in range(200)}
failed = []  # the keys of records that could not be stored
lab.cluster.pause(gone)
lab.wait_until(lambda: leaderless_everywhere(lab, single), what="partitions without a leader")
keyed = lab.producer({"message.timeout.ms": 2000, "sticky.partitioning.linger.ms": 0})
keyed.list_topics(single, timeout=5)
for key in [*by_partition.values(), *[None] * 60]:
    keyed.produce(single, b"x", key=key, on_delivery=lambda error, m: error and failed.append(m.key()))
keyed.flush(20)
lab.cluster.recover()

# %%
lost_keys = sorted(consistent(key, len(led)) for key in failed if key)
leaderless = [p.id for p in led if p.leader == gone]
print(f"with a key: {len(lost_keys)} of 6 failed; without: {failed.count(None)} of 60")
lab.observed("Of the keyed records exactly those for leaderless partitions failed", lost_keys == leaderless)
lab.observed("Most records without a key went elsewhere", failed.count(None) < 30)

# %% [markdown]
# Without a key this client draws a partition, and if nobody leads it, it draws once more. It can have bad luck twice. (Java's client chooses only among partitions that have a leader.) Nobody should move a keyed record elsewhere: its place is part of its meaning.

# %% [markdown] covers="D100 D102"
# ### A machine that is lost
#
# If a machine is lost with its disk, another one can take its place. Format an empty disk with `kafka-storage format`, with the same cluster id and the same `node.id`, and start Kafka there. For the cluster the broker has returned: its replicas are far behind, copy everything from the leaders, and are in sync again.
#
# Two brokers cannot have one id. The active controller refuses the second with `DUPLICATE_BROKER_REGISTRATION`, as long as the first one has its session. The second tries for a minute (`initial.broker.registration.timeout.ms`), and gets in if the first ends before that; else it ends itself.
#
# A broker that is gone for good stays registered, and fenced, until somebody takes it off the list: `kafka-cluster unregister --id 4`. Before that give its replicas to other brokers (`kafka-reassign-partitions`).

# %% [markdown]
# ### Alarms
#
# What this lab saw on its recordings, an engineer on call sees in metrics. A broker shows them over JMX under these names:
#
# | metric | what it tells | alarm |
# |---|---|---|
# | `kafka.controller:type=KafkaController,name=ActiveControllerCount` | is this controller the active one? | the sum over all is not 1 |
# | `…KafkaController,name=FencedBrokerCount` | brokers that are registered and fenced | more than 0 |
# | `…KafkaController,name=OfflinePartitionsCount` | partitions that nobody leads | more than 0 |
# | `kafka.controller:type=ControllerStats,name=UncleanLeaderElectionsPerSec` | elections like that of `likes` | ever |
# | `kafka.server:type=ReplicaManager,name=UnderMinIsrPartitionCount` | partitions that refuse `acks=all` | more than 0 |
#
# The controller's counts stand at the active controller. A partition that nobody leads is in no broker's `UnderMinIsrPartitionCount`: the leaders count it.

# %% [markdown]
# Compare with the [solution](../solutions/04_broker_failover.ipynb). Next lab: [How fast can you be sure?](05_producers.ipynb)
