# SPDX-License-Identifier: Apache-2.0
"""What federates on a Ray cluster need, without one."""

from __future__ import annotations

import pickle
import socket
import subprocess
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from reactorl import DeclarationError, Federation, FederationError, RayFederation
from reactorl._federation.launch.on_ray import cluster
from reactorl._federation.launch.on_ray import shipment as shipping
from reactorl._federation.launch.on_ray.cluster import Node, is_too_small
from reactorl._federation.launch.on_ray.sealing import SealingKey, seal
from reactorl._federation.launch.on_ray.shipment import shipment
from reactorl._federation.link_errors import SecretError
from reactorl._federation.secret import SECRET_BYTES, RunSecret
from reactorl.rl import FlowError, Trainer
from tests.rl.contract.tasks import IPPO_TASK, Q_TASK

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KEY = bytes(range(SECRET_BYTES))

# -- RayFederation ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_federates": 0}, "num_federates must be at least 1, got 0"),
        (
            {"placement": {"main.a": "x"}, "num_federates": 2},
            "num_federates must be None",
        ),
        ({"cpus_per_federate": -1}, "cpus must be a number, 0 or more, got -1"),
        ({"cpus_per_federate": 0}, "the resources of a federate must be more than 0"),
        ({"gpus_per_federate": "1"}, "gpus must be a number, 0 or more, got '1'"),
        ({"resources": 3}, "resources must be a mapping, got 3"),
        ({"overrides": {"a": {"cpu": 1}}}, "a name must be one of cpus, gpus, resour"),
        ({"strategy": "FAR"}, "strategy must be one of PACK, SPREAD, STRICT_PACK"),
        ({"patience": -1}, "patience must be None or 0 or more, got -1"),
    ],
)
def test_what_is_refused(options: Any, message: str) -> None:
    with pytest.raises(DeclarationError) as raised:
        RayFederation(**options)

    assert message in str(raised.value)
    assert "test_ray_parts.py" in str(raised.value)


def test_requests_of_federates() -> None:
    settings = RayFederation(
        {"main.a": "a", "main.b": "b"},
        cpus_per_federate=2,
        labels={"zone": "x"},
        overrides={"b": {"gpus": 1, "resources": {"camera": 1}}},
    ).settings

    assert settings.request("a").bundle == {"CPU": 2}
    assert settings.request("b").bundle == {"CPU": 2, "GPU": 1, "camera": 1}
    assert settings.request("b").labels == {"zone": "x"}


def test_another_placement_has_the_same_nodes_and_counts_on() -> None:
    federation = RayFederation(num_federates=3, address="here:1")
    next(federation.lives)

    other = federation.with_placement({"main.a": "a"}, replicas=["main.clock"])

    assert isinstance(other, RayFederation)
    assert (other.placement, other.replicas) == ({"main.a": "a"}, ("main.clock",))
    assert other.settings is federation.settings
    assert next(other.lives) == 2
    assert next(federation.lives) == 3


def test_options_of_a_trainer() -> None:
    trainer = Trainer(
        Q_TASK, nodes="ray", federates=3, cpus_per_federate=0.5, ray_address="h:1"
    )

    found = trainer.wanted_federation

    assert isinstance(found, RayFederation)
    assert found is trainer.wanted_federation  # lives are counted
    assert found.placement == 3
    assert found.settings.address == "h:1"
    assert found.settings.request("head-1").bundle == {"CPU": 0.5}
    assert Trainer(Q_TASK).wanted_federation is None


@pytest.mark.parametrize(
    ("task", "options", "message"),
    [
        (Q_TASK, {"nodes": "slurm"}, "nodes must be None or 'ray', got 'slurm'"),
        (Q_TASK, {"python": "p"}, "python must be None without nodes='ray', got 'p'"),
        (
            Q_TASK,
            {"federation": Federation(2), "federates": 2},
            "federates must be None beside a federation, got 2",
        ),
        (Q_TASK, {"nodes": "ray", "federates": 6}, "federates must be from 1 to 5"),
        (IPPO_TASK, {"nodes": "ray"}, "federates must be 1 for IPPO, got 2"),
    ],
)
def test_what_a_trainer_refuses(
    task: Any, options: Any, message: str, tmp_path: Path
) -> None:
    with pytest.raises(FlowError, match=message):
        Trainer(task, tmp_path / "run", **options).fit()

    assert not (tmp_path / "run").exists()


# -- the cluster -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bundles", "expected"),
    [
        ([{"CPU": 2}] * 3, False),
        ([{"CPU": 2}] * 4, True),  # 7 CPUs, but only 3 times 2 of one node
        ([{"CPU": 0.5}] * 14, False),
        ([{"CPU": 0.5}] * 15, True),
        ([{"CPU": 5}], True),
        ([{"CPU": 1, "GPU": 1}], False),
        ([{"CPU": 1, "GPU": 1}, {"GPU": 1}], True),
        ([{"CPU": 1}, {"camera": 1}], True),
    ],
)
def test_whether_a_cluster_is_too_small(
    bundles: Any,
    expected: bool,  # noqa: FBT001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = [
        Node("a", "10.0.0.1", "one", {"CPU": 4.0}),
        Node("b", "10.0.0.2", "two", {"CPU": 3.0, "GPU": 1.0}),
    ]
    monkeypatch.setattr(cluster, "nodes", lambda: found)

    assert is_too_small(bundles) is expected


def test_address_of_a_cluster_that_has_ended_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    noted = tmp_path / "ray" / "ray_current_cluster"
    assert cluster._cluster_address(None) is None

    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        noted.parent.mkdir()
        noted.write_text(address)
        assert cluster._cluster_address(None) == address
        assert cluster._cluster_address("auto") == address
        assert cluster._cluster_address(f"ray://{address}") == f"ray://{address}"

    assert cluster._cluster_address(None) is None
    monkeypatch.setenv("RAY_ADDRESS", address)
    with pytest.raises(FederationError, match="connecting to the Ray cluster at"):
        cluster._cluster_address(None)
    assert cluster._cluster_address("local") is None


# -- the secret ------------------------------------------------------------------------


def test_only_the_key_that_a_secret_was_sealed_for_opens_it() -> None:
    key = SealingKey()
    sealed = seal(RunSecret(KEY), key.public)

    assert key.open(sealed).mac(b"x") == RunSecret(KEY).mac(b"x")
    assert KEY not in sealed
    assert seal(RunSecret(KEY), key.public) != sealed
    for wrong in (sealed[:-1], sealed[:-1] + b"?", b"", bytes(80), b"?" + sealed[1:]):
        with pytest.raises(SecretError):
            key.open(wrong)
    with pytest.raises(SecretError):
        SealingKey().open(sealed)
    with pytest.raises(TypeError):
        pickle.dumps(key)


# -- modules ---------------------------------------------------------------------------


@pytest.fixture
def user_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """A package with data and a module; returns what removes them."""
    package = tmp_path / "shipped_package"
    package.mkdir()
    (package / "__init__.py").write_text("from pathlib import Path\n")
    (package / "inner.py").write_text(
        "from shipped_package import Path\n"
        "text = (Path(__file__).parent / 'data.txt').read_text()\n"
    )
    (package / "data.txt").write_text("the data")
    (package / ".hidden").write_text("not for others")
    (tmp_path / "shipped_module.py").write_text("import shipped_package.inner\n")
    monkeypatch.syspath_prepend(tmp_path)
    import_module("shipped_module")

    def remove() -> None:
        for path in (*package.iterdir(), tmp_path / "shipped_module.py"):
            if path.is_file():
                path.unlink()

    return remove


SHOW = """
import sys
sys.path[:] = sys.argv[1].split(":") + sys.path
import shipped_module
from shipped_package import inner
print(inner.__file__, inner.text)
"""


def test_modules_are_found_where_they_are_else_in_what_was_sent(
    user_modules: Callable[[], None], tmp_path: Path
) -> None:
    sent = pickle.loads(pickle.dumps(shipment()))
    target = tmp_path / "target"
    target.mkdir()

    before, _ = sent.unpack(target)
    assert str(tmp_path) in before
    assert list(target.iterdir()) == []

    user_modules()
    before, after = sent.unpack(target)
    assert (before, after) == ([str(target)], [])
    assert not (target / "shipped_package" / ".hidden").exists()
    done = subprocess.run(
        [sys.executable, "-c", SHOW, ":".join(before)],
        capture_output=True,
        text=True,
        check=True,
    )
    expected = f"{target / 'shipped_package' / 'inner.py'} the data\n"
    assert done.stdout == expected


def test_installed_modules_are_not_sent() -> None:
    sent = shipment()

    names = {
        name
        for group in (sent.before, sent.after)
        for each in group.values()
        for name in each
    }
    assert "tests" in names
    assert not names & {"json", "pytest", "reactorl", "reactorl.py", "numpy"}
    assert not any(name.startswith("json") for name in names)


def test_modules_that_are_too_large_are_an_error(
    user_modules: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipping, "MAX_BYTES", 100)

    with pytest.raises(FederationError, match=r"must have at most 0 MiB, got \d+: "):
        shipment()
