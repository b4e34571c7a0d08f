# SPDX-License-Identifier: Apache-2.0
"""Environments by id: packages are imported by the name of the id; helpful errors."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import textwrap
from contextlib import closing
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
import pytest

from reactorl.rl import PPO, Flow, FlowError, VectorEnv
from reactorl.rl.envs import packages
from reactorl.rl.envs.factory import Recipe
from reactorl.rl.envs.ids import find_spec, search

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GAME = """
    import gymnasium as gym
    import numpy as np

    class Game(gym.Env):
        observation_space = gym.spaces.Box(0, 9, (2,), np.float32)
        action_space = gym.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            return self.np_random.random(2, np.float32), {}

        def step(self, action):
            return self.np_random.random(2, np.float32), 1.0, False, False, {}
"""


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forget what a test registers."""
    before = dict(gym.registry)
    yield
    gym.registry.clear()
    gym.registry.update(before)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, registry: None) -> Path:
    """Return a directory from which packages are imported, here and in workers."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    for name in ("chess_games", "chess_games.envs", "checkers", "broken_games"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text))


def register(env_id: str, where: str) -> str:
    return f"\n    gym.register({env_id!r}, entry_point='{where}:Game')\n"


# -- packages -------------------------------------------------------------------------


def test_the_package_of_an_id_is_imported() -> None:
    ids = {
        "ALE/Pong-v5": "ale_py",
        "BreakoutNoFrameskip-v4": "ale_py",
        "MiniGrid-Empty-5x5-v0": "minigrid",
        "BabyAI-GoToRedBall-v0": "minigrid",
        "MinAtar/Breakout-v1": "minatar",
        "deep-sea-treasure-v0": "mo_gymnasium",
        "mo-mountaincar-v0": "mo_gymnasium",
    }
    installed = [env_id for env_id, module in ids.items() if exists(module)]
    if not installed:
        pytest.skip("none of the packages is installed")
    program = (
        "import sys; from reactorl.rl.envs.ids import find_spec\n"
        "print(*[find_spec(name).id for name in sys.argv[1:]])"
    )
    # In a process of its own: here the packages may have been imported before.
    ran = subprocess.run(
        [sys.executable, "-c", program, *installed],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout.split() == installed, ran.stderr


def exists(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


@pytest.mark.parametrize(
    ("env_id", "pip"),
    [
        ("ALE/Pong-v5", "ale-py"),
        ("PongNoFrameskip-v4", "ale-py"),
        ("MiniGrid-Empty-5x5-v0", "minigrid"),
        ("MinAtar/Breakout-v1", "minatar"),
        ("mo-lunar-lander-v3", "mo-gymnasium"),
        ("MiniWorld-Hallway-v0", "miniworld"),
        ("FetchReach-v4", "gymnasium-robotics"),
        ("highway-fast-v0", "highway-env"),
        ("dm_control/cartpole-swingup-v0", '"shimmy[dm-control]"'),
    ],
)
def test_missing_package_is_named_with_its_pip_command(
    env_id: str, pip: str, monkeypatch: pytest.MonkeyPatch, registry: None
) -> None:
    gym.registry.pop(env_id, None)
    monkeypatch.setattr(packages, "find_spec", lambda _name: None)

    with pytest.raises(gym.error.UnregisteredEnv) as raised:
        VectorEnv(env_id, 2)
    assert str(raised.value).endswith(f"not installed. Install it: pip install {pip}")
    with pytest.raises(FlowError) as refused:
        Flow(env_id, PPO()).check()
    assert refused.value.what.startswith(f"environment {env_id!r} could not be found")
    assert refused.value.remedy == f"Install it: pip install {pip}"


def test_namespace_that_is_a_module_is_imported_in_worker_processes_too(
    site: Path,
) -> None:
    where = register("chess-games/Blitz-v0", "chess_games")
    write(site / "chess_games/__init__.py", GAME + where)

    envs = VectorEnv("chess-games/Blitz-v0", 2, workers=2, placement="process")
    with closing(envs):
        seen, _ = envs.reset(seed=3)

    alone = [gym.make("chess-games/Blitz-v0").reset(seed=3 + k)[0] for k in range(2)]
    np.testing.assert_array_equal(seen, alone)


def test_envs_module_of_a_namespace_is_imported(site: Path) -> None:
    write(site / "chess_games/__init__.py", "")
    where = register("chess_games/Blitz", "chess_games.envs")
    write(site / "chess_games/envs.py", GAME + where)

    assert find_spec("chess_games/Blitz").entry_point == "chess_games.envs:Game"


def test_package_is_found_by_its_entry_point(site: Path) -> None:
    lines = "\n    def start():" + register("Draughts/Small-v0", "checkers").replace(
        "\n    gym", "\n        gym"
    )
    write(site / "checkers.py", GAME + lines)
    info = site / "checkers-1.0.dist-info"
    write(info / "METADATA", "Metadata-Version: 2.1\nName: checkers\nVersion: 1.0\n")
    write(info / "entry_points.txt", "[gymnasium.envs]\nDraughts = checkers:start\n")

    assert find_spec("Draughts/Small-v0").entry_point == "checkers:Game"


def test_package_that_cannot_be_imported_is_reported_with_the_cause(
    site: Path,
) -> None:
    write(site / "broken_games.py", "raise RuntimeError('no display')")

    with pytest.raises(ImportError, match=r"broken_games.*failed: no display"):
        VectorEnv("broken_games/Blitz-v0", 2)
    with pytest.raises(FlowError, match="failed: no display"):
        Flow("broken_games/Blitz-v0", PPO()).check()


def test_id_of_old_gym_is_answered_with_its_wrapper(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (site / "chess_games.py").write_text(
        """if True:
            import sys
            from types import SimpleNamespace
            spec = SimpleNamespace(entry_point="chess_games.blitz:Blitz")
            registration = SimpleNamespace(registry={"Blitz-v3": spec})
            envs = SimpleNamespace(registration=registration)
            sys.modules["gym"] = SimpleNamespace(envs=envs)
        """
    )
    monkeypatch.delitem(sys.modules, "gym", raising=False)
    try:
        with pytest.raises(
            FlowError, match="registered with Gym, the predec"
        ) as raised:
            Flow("chess_games:Blitz-v3", PPO()).check()
    finally:
        del sys.modules["gym"]
    remedy = raised.value.remedy
    assert 'pip install "shimmy[gym-v26]"' in remedy
    assert "'GymV26Environment-v0' with env_id=chess_games:Blitz-v3." in remedy


# -- unknown ids ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("env_id", "kind", "text"),
    [
        ("Taxi-v3", gym.error.DeprecatedEnv, "is deprecated. Use 'Taxi-v4'."),
        ("LunarLander-v2", gym.error.DeprecatedEnv, "Use 'LunarLander-v3'."),
        ("Taxi-v9", gym.error.VersionNotFound, "The newest is 'Taxi-v4'."),
        ("CartPol-v1", gym.error.NameNotFound, "Did you mean 'CartPole-v1'?"),
        ("cartpole-v1", gym.error.NameNotFound, "Did you mean 'CartPole-v1'?"),
        ("CartPole", gym.error.Error, "Did you mean 'CartPole-v1'?"),
        ("Qwxz-v0", gym.error.NameNotFound, "lists registered ones."),
        ("qwxz/Chess-v0", gym.error.NamespaceNotFound, "'module:qwxz/Chess-v0'."),
        ("few/qwxz-v0", gym.error.NameNotFound, "few has few/one-v0."),
        ("many/qwxz-v0", gym.error.NameNotFound, "many/e3-v0, many/e4-v0, ...."),
        ("no id!", gym.error.Error, "lists registered ones."),
    ],
)
def test_unknown_id_is_answered_with_the_id_that_was_meant(
    env_id: str, kind: type[Exception], text: str, registry: None
) -> None:
    for name in ("few/one-v0", *(f"many/e{k}-v0" for k in range(6))):
        gym.register(name, entry_point="chess_games:Game")
    with pytest.raises(kind) as raised:
        VectorEnv(env_id, 2)
    assert type(raised.value) is kind
    assert str(raised.value).endswith(text)
    with pytest.raises(FlowError) as refused:
        Flow(env_id, PPO()).check()
    assert refused.value.remedy
    assert text.endswith(refused.value.remedy) or refused.value.remedy.endswith(text)


def test_game_without_its_namespace_is_answered_with_it() -> None:
    pytest.importorskip("ale_py")
    with pytest.raises(gym.error.VersionNotFound, match="Did you mean 'ALE/Pong-v5'"):
        find_spec("Pong-v5")
    with pytest.raises(gym.error.NameNotFound, match="Did you mean 'ALE/Pong-v5'"):
        find_spec("ALE/Pogn-v5")


# -- missing dependencies -------------------------------------------------------------


def missing(name: str) -> Any:
    def make(**_: object) -> Any:
        msg = f"No module named {name!r}"
        raise ModuleNotFoundError(msg, name=name)

    return make


@pytest.mark.parametrize(
    ("entry", "lacking", "hint"),
    [
        ("gymnasium.envs.phys2d.cartpole:CartPoleJaxEnv", "", '"gymnasium[jax]"'),
        (missing("ale_py"), "ale_py", "pip install ale-py"),
        (missing("qwxz"), "qwxz", "Install the package that provides 'qwxz'."),
    ],
)
def test_missing_dependency_is_reported_with_how_to_install_it(
    entry: Any, lacking: str, hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gymnasium.envs.phys2d.cartpole", None)
    spec = gym.envs.registration.EnvSpec("Needy-v0", entry)

    with pytest.raises(gym.error.DependencyNotInstalled) as raised:
        Recipe(spec)()
    assert str(raised.value).endswith(hint)
    assert lacking in str(raised.value)


def test_environment_that_moved_is_answered_with_its_newest_version() -> None:
    with pytest.raises(FlowError, match=r"could not be made.*Use 'HalfCheetah-v5'"):
        Flow("HalfCheetah-v2", PPO()).check()


def test_arguments_that_do_not_fit_are_errors_of_the_task() -> None:
    flow = Flow("CartPole-v1", PPO(), env_kwargs={"gravty": 3})
    with pytest.raises(FlowError, match=r"'CartPole-v1' could not be made.*'gravty'"):
        flow.check()


def test_known_ids_are_found_without_importing_anything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(name)

    monkeypatch.setattr(packages, "import_module", refuse)
    found: Any = search("CartPole-v1")
    assert found is gym.registry["CartPole-v1"]
    assert search("Taxi-v4") is gym.registry["Taxi-v4"]  # could be a game of ale_py


def test_games_of_ale_print_no_banner(capfd: pytest.CaptureFixture[str]) -> None:
    ale_py = pytest.importorskip("ale_py")
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Info)  # as in a new process
    ale_py.ALEInterface()
    assert "A.L.E" in "".join(capfd.readouterr())

    with closing(Recipe(find_spec("ALE/Pong-v5"))()):
        assert "".join(capfd.readouterr()) == ""
