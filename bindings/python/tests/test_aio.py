"""The same for asyncio."""
import asyncio
import concurrent.futures
import inspect
import threading
import time

import pytest

import varve
import varve.aio
from conftest import NOW_MS


def test_a_session():
    async def main():
        async with varve.aio.Store("memory:") as store:
            async with await store.create_session(session_id="s", user_id="ann") as session:
                assert session.id == "s"
                entry_id = await session.add({"type": "finding", "content": "tea, not coffee"})
                assert (await session.get(entry_id))["content"] == "tea, not coffee"
                results = await session.query(text="tea")
                assert [result["entry"]["id"] for result in results] == [entry_id]
                with pytest.raises(varve.NotFound):
                    await session.get("nobody")
            assert [info["session_id"] async for info in store.iterate_sessions()] == ["s"]
            assert await (await store.open_session("s")).count() == 1
            assert await (await store.session("s", user_id="ann")).count() == 1
            with pytest.raises(varve.AlreadyExists):
                await store.session("s", user_id="bo")
        with pytest.raises(varve.BadHandle):
            await store.sync()
    asyncio.run(main())


def test_all_sessions_are_of_one_list_that_is_made_anew_once(tmp_path):
    async def main():
        async with varve.aio.Store(tmp_path) as store:
            for _ in range(3):
                await store.create_session()
            sessions_list = tmp_path / "indices/sessions.jsonl"
            lists = [sessions_list.stat().st_ino
                     async for _ in store.iterate_sessions(limit=1, rescan=True)]
            assert lists == [lists[0]] * 3
    asyncio.run(main())


def test_find_gives_all_up_to_the_limit():
    async def main():
        async with varve.aio.Store("memory:") as store:
            session = await store.session("s")
            await session.add_batch([{"type": "finding", "content": n} for n in range(600)])
            for finder in (session, store):
                for members, found in (({}, 600), ({"limit": 501}, 501), ({"limit": 0}, 0)):
                    assert len([r async for r in finder.find(**members)]) == found
    asyncio.run(main())


def test_a_thousand_calls_at_once():
    async def main():
        async with varve.aio.Store("memory:") as store:
            session = await store.create_session()
            ids = await asyncio.gather(*(
                session.add({"type": "finding", "content": n}) for n in range(1000)))
            contents = await asyncio.gather(*(session.get(entry_id) for entry_id in ids))
            assert [entry["content"] for entry in contents] == list(range(1000))
    asyncio.run(main())


def test_the_loop_goes_on_meanwhile(tmp_path):
    """While a call waits in its thread, the loop answers the clock callback's question."""
    async def main():
        loop = asyncio.get_running_loop()
        asked = []

        async def answer():
            asked.append(True)
            return 1767225600000

        def clock():
            return asyncio.run_coroutine_threadsafe(answer(), loop).result(timeout=60)

        async with varve.aio.Store("memory:") as store:
            session = await store.create_session()
            await store.set_clock(clock)
            entry = await session.get(await session.add({"type": "finding", "content": 1}))
            assert entry["timestamp"] == "2026-01-01T00:00:00.000Z"
            assert asked
            await store.set_clock(None)
    asyncio.run(main())


def test_the_loop_goes_on_while_a_store_is_closed():
    async def main():
        loop = asyncio.get_running_loop()
        heard = []

        async def hear(message):
            heard.append(message)

        def receive(level, line):
            asyncio.run_coroutine_threadsafe(hear(line["message"]), loop).result(timeout=60)

        store = await varve.aio.Store("memory:").open()
        session = await store.create_session()
        await store.set_log(receive)
        await store.close()
        assert "session closed" in heard
        await session.close()
    asyncio.run(main())


def test_results_have_been_read_when_they_arrive():
    async def main():
        async with varve.aio.Store("memory:") as store:
            session = await store.session("s", user_id="ann")
            await session.add({"type": "finding", "content": "tea"})
            memory = await store.memory(user_id="ann")
            for results in (await session.query(), await store.query(), await memory.search()):
                results.close()
                assert [result["entry"]["content"] for result in results] == ["tea"]
    asyncio.run(main())


def test_the_end_of_a_block_closes():
    async def main():
        async with varve.aio.Store("memory:") as store:
            async with await store.session("s", {"title": "Kitchen"}) as session:
                assert (await session.metadata())["title"] == "Kitchen"
            async with await store.memory({"user_id": "ann", "window": 1}) as memory:
                for content in ("one", "two"):
                    await memory.record("chat", {"content": content})
                context = await memory.context("chat")
                assert [entry["content"] for entry in context["entries"]] == ["two"]
            for call in (session.count, memory.clear):
                with pytest.raises(varve.BadHandle):
                    await call()
    asyncio.run(main())


def test_a_cancelled_call_is_carried_out_if_it_has_begun():
    begun, go = threading.Event(), threading.Event()

    def tell():
        begun.set()
        go.wait(60)
        return NOW_MS

    async def main():
        asyncio.get_running_loop().set_default_executor(
            concurrent.futures.ThreadPoolExecutor(1))
        async with varve.aio.Store("memory:") as store:
            session = await store.create_session()
            go.set()
            await store.set_clock(tell)
            go.clear()
            begun.clear()
            calls = [asyncio.ensure_future(session.add({"id": name, "type": "finding",
                                                        "content": 1}))
                     for name in ("begun", "waiting")]
            while not begun.is_set():
                await asyncio.sleep(0)
            for call in calls:
                call.cancel()
            for call in calls:
                with pytest.raises(asyncio.CancelledError):
                    await call
            go.set()
            assert [found["entry"]["id"] async for found in session.find()] == ["begun"]
    asyncio.run(main())


def test_a_store_that_is_not_open_says_so():
    async def main():
        with pytest.raises(RuntimeError, match="not open"):
            await varve.aio.Store("memory:").sync()
    asyncio.run(main())


def test_a_store_that_is_opened_twice_at_once_is_opened_once(monkeypatch):
    made = []

    class Counted(varve.Store):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            made.append(self)
            time.sleep(0.01)  # time for the other one

    monkeypatch.setattr("varve.store.Store", Counted)

    async def main():
        store = varve.aio.Store("memory:")
        assert await asyncio.gather(*(store.open() for _ in range(8))) == [store] * 8
        await store.create_session(session_id="s")
        assert len(made) == 1
        await store.close()
    asyncio.run(main())


def test_a_store_that_was_closed_can_be_opened_again(tmp_path):
    async def main():
        store = varve.aio.Store(tmp_path)
        for round in range(2):
            async with store:
                await store.create_session(session_id=f"s{round}")
            with pytest.raises(varve.BadHandle):
                await store.sync()
        async with store:
            assert {info["session_id"] async for info in store.iterate_sessions()} == {"s0", "s1"}
            await asyncio.gather(store.close(), store.close())
    asyncio.run(main())


def test_a_store_takes_its_configuration_by_keywords():
    async def durability():
        async with varve.aio.Store("memory:", durability="os") as store:
            async with await store.create_session() as session:
                return (await session.stats())["durability"]

    assert asyncio.run(durability()) == "os"


def test_a_cancelled_open_leaves_a_store_that_can_be_opened():
    async def main():
        store = varve.aio.Store("memory:")
        task = asyncio.ensure_future(store.open())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with store:
            await store.sync()
    asyncio.run(main())


@pytest.mark.parametrize("name", ["Store", "Session", "Memory"])
def test_every_method_has_its_variant(name):
    """A property or a method of the plain class that asyncio users would miss."""
    plain, variant = getattr(varve, name), getattr(varve.aio, name)
    public = {member for member, _ in inspect.getmembers(plain) if not member.startswith("_")}
    assert public - {"store"} <= set(dir(variant))
    for member in public - {"store", "id"}:
        assert inspect.unwrap(getattr(variant, member)).__name__ == member
