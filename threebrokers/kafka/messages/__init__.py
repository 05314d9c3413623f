"""Messages of Kafka's protocol that kafka-python does not carry, in the notation of Kafka's own descriptions.

Fields and versions are those of Kafka 4.3.1 (KIP-848).
"""
