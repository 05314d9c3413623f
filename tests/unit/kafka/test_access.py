"""How to get into a cluster that is not the learner's: its file, its addresses, the own prefix."""

import pytest

from threebrokers.errors import LabError
from threebrokers.kafka import access, client_file, client_settings, rights

LOGIN = "security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\nsasl.username=anna\nsasl.password=geheim\n"


@pytest.fixture(autouse=True)
def nothing_is_asked_for(monkeypatch):
    for name in (access.BOOTSTRAP, access.CLIENT, access.PREFIX):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def file(tmp_path):
    def written(text: str):
        path = tmp_path / "client.properties"
        path.write_text(text, "utf-8")
        return path

    return written


@pytest.fixture
def shared(monkeypatch, file):
    monkeypatch.setenv(access.BOOTSTRAP, "kafka.school:9093, b2.school:9093")
    monkeypatch.setenv(access.CLIENT, str(file(LOGIN)))


class TestFile:
    def test_it_is_read_as_librdkafka_names_its_settings(self, file):
        assert client_file.read(file(f"# from your teacher\n\n{LOGIN}")) == {
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.username": "anna",
            "sasl.password": "geheim",
        }

    def test_java_s_form_means_the_same(self, file, tmp_path):
        (tmp_path / "ca.pem").write_text("")
        module = "org.apache.kafka.common.security.scram.ScramLoginModule required"
        text = (
            "security.protocol = SASL_SSL\nsasl.mechanism=SCRAM-SHA-256\nssl.truststore.type=PEM\n"
            "ssl.truststore.location=ca.pem\nssl.endpoint.identification.algorithm=\n"
            f'sasl.jaas.config={module} \\\n  username="anna" password="ge\\"heim";\n'
        )
        found = client_file.read(file(text))
        assert (found["sasl.username"], found["sasl.password"]) == ("anna", 'ge"heim')
        assert found["ssl.ca.location"] == str(tmp_path / "ca.pem")
        assert found["ssl.endpoint.identification.algorithm"] == "none"

    @pytest.mark.parametrize(
        ("text", "line", "why"),
        [
            ("security.protocol=SASL\n", 1, "is one of PLAINTEXT, SSL"),
            ("# a word\nsasl.mechanism=GSSAPI\n", 2, "is one of PLAIN, SCRAM"),
            ("security.protocol\n", 1, "name=value"),
            ("\nacks=all\n", 2, "'acks' is not among"),
            ("bootstrap.servers=a:1\n", 1, "belong into THREEBROKERS_BOOTSTRAP"),
            ("sasl.password=\n", 1, "has no value"),
            ("ssl.ca.location=nowhere.pem\n", 1, "is not there"),
            ("ssl.ca.location=~nobody-has-this-name/ca.pem\n", 1, "is not there"),
            ("ssl.truststore.type=JKS\n", 1, "PEM"),
            ("sasl.jaas.config=x required;\n", 1, "username"),
            ("sasl.username=anna\\\n", 1, "backslash"),
        ],
    )
    def test_a_wrong_line_is_one_sentence_with_its_number(self, file, text, line, why):
        with pytest.raises(LabError) as said:
            client_file.read(file(text))
        assert f"Line {line} of" in said.value.what
        assert why in said.value.what

    @pytest.mark.parametrize(
        ("text", "why"),
        [
            (LOGIN.replace("sasl.password=geheim\n", ""), "lacks sasl.password"),
            ("sasl.username=anna\n", "PLAINTEXT does not use"),
            (f"{LOGIN}ssl.key.password=x\n".replace("SASL_SSL", "SASL_PLAINTEXT"), "ssl.key.password"),
        ],
    )
    def test_settings_that_do_not_fit_together_are_one_sentence(self, file, text, why):
        with pytest.raises(LabError, match=why):
            client_file.read(file(text))

    def test_a_file_that_is_not_there_is_one_sentence(self, tmp_path):
        with pytest.raises(LabError, match="THREEBROKERS_CLIENT cannot be read"):
            client_file.read(tmp_path / "none")

    def test_no_sentence_repeats_a_value_that_may_be_secret(self, file):
        for text in (f"{LOGIN}acks=geheim\n", "security.protocol=geheim\n", LOGIN.replace("anna", "")):
            with pytest.raises(LabError) as said:
                client_file.read(file(text))
            assert "geheim" not in str(said.value)


class TestAccess:
    def test_without_an_address_brokers_of_one_s_own_are_meant(self):
        assert access.chosen() is None
        assert access.prefixed("reader") == "reader"

    def test_addresses_settings_and_the_prefix_of_the_cluster_s_user(self, shared):
        found = access.chosen()
        assert found is not None
        assert (found.bootstrap, found.prefix) == ("kafka.school:9093,b2.school:9093", "anna-")
        assert found.protocol == "SASL_SSL"

    def test_what_is_printed_holds_no_password(self, shared):
        assert "geheim" not in repr(access.chosen())

    @pytest.mark.parametrize("address", ["kafka.school", "a b:1", "a:0", "a:99999", "sasl://a:9"])
    def test_what_is_no_address_is_one_sentence(self, monkeypatch, address):
        monkeypatch.setenv(access.BOOTSTRAP, address)
        with pytest.raises(LabError, match="is no address"):
            access.chosen()

    def test_the_variable_comes_before_the_file_and_that_before_the_user(self, shared, monkeypatch, file):
        monkeypatch.setenv(access.CLIENT, str(file(f"{LOGIN}threebrokers.prefix=class7.\n")))
        assert access.chosen().prefix == "class7."
        monkeypatch.setenv(access.PREFIX, "own_")
        assert access.chosen().prefix == "own_"

    @pytest.mark.parametrize("prefix", ["anna", "-", "a b-", "ä-", f"{'x' * 50}-"])
    def test_a_prefix_that_could_be_another_s_or_is_no_name_is_refused(self, shared, monkeypatch, prefix):
        monkeypatch.setenv(access.PREFIX, prefix)
        with pytest.raises(LabError, match="set THREEBROKERS_PREFIX"):
            access.chosen()

    @pytest.mark.parametrize("user", ["anna-maria", "Max.Mueller", "jörg", "x" * 40])
    def test_a_name_that_could_begin_with_another_s_is_no_prefix(self, monkeypatch, user):
        monkeypatch.setenv(access.BOOTSTRAP, "a:70")
        monkeypatch.setattr("getpass.getuser", lambda: user)
        with pytest.raises(LabError, match="set THREEBROKERS_PREFIX to one such as anna-"):
            access.chosen()

    def test_a_name_that_everybody_has_is_no_prefix(self, monkeypatch):
        monkeypatch.setenv(access.BOOTSTRAP, "a:1")
        monkeypatch.setattr("getpass.getuser", lambda: "jovyan")
        with pytest.raises(LabError, match="Nobody says how your names begin"):
            access.chosen()

    def test_a_file_in_nobody_s_home_folder_is_one_sentence(self, shared, monkeypatch):
        monkeypatch.setenv(access.CLIENT, "~nobody-has-this-name/client.properties")
        with pytest.raises(LabError, match=r"~nobody-has-this-name/.* of THREEBROKERS_CLIENT cannot be read"):
            access.chosen()

    def test_java_gets_a_login_module_with_both_words_escaped(self):
        settings = {"sasl.mechanism": "PLAIN", "sasl.username": "anna", "sasl.password": 'a"\\b'}
        told = access.Access("a:1", "anna-", {"security.protocol": "SASL_SSL", **settings}).java()
        assert told["sasl.jaas.config"].endswith(
            'PlainLoginModule required username="anna" password="a\\"\\\\b";'
        )


class TestClients:
    def test_every_client_of_the_course_is_told_how_to_get_in(self, shared):
        told = client_settings.shared("b2.school:9093")
        assert told["sasl.password"] == "geheim"
        assert (
            client_settings.reader("kafka.school:9093", "reader", "read_committed")["group.id"]
            == "anna-reader"
        )

    def test_other_brokers_are_told_no_password(self, shared):
        assert "sasl.password" not in client_settings.shared("localhost:9092")


class TestRights:
    def test_a_foreign_name_is_one_sentence_that_says_the_prefix(self, shared):
        said = rights.of_text(access.chosen(), "Broker: Topic authorization failed")
        assert "names that begin with 'anna-'" in str(said)

    def test_what_needs_power_over_brokers_is_told_apart(self, shared):
        said = rights.of_text(access.chosen(), "ClusterAuthorizationException: Cluster authorization failed.")
        assert "needs power over its brokers" in str(said)

    def test_other_words_are_not_about_rights(self, shared):
        assert rights.of_text(access.chosen(), "TopicExistsException") is None
