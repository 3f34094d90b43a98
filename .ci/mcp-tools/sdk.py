"""Checks the agent server with the protocol's official Python SDK: both client modes, over HTTP and over stdio.

The SDK validates every structured output against the tool's output schema, and fails if it does not match.
Usage: python sdk.py BASE_URL MARKETPLACE_BINARY DEMO_DIRECTORY
"""

import asyncio
import json
import sys

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import PromptReference, ResourceTemplateReference

base_url, binary, folder = sys.argv[1:]
NOBODY = "00000000-0000-0000-0000-000000000000"


def over_http(key, **headers):
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}", **headers})
    return streamable_http_client(f"{base_url}/v2/mcp/", http_client=http)


def over_stdio(key):
    environment = {"MARKETPLACE_API_KEY": key, "MARKETPLACE_KEYS_ALLOW_FIXTURE_KEYS": "true"}
    return StdioServerParameters(command=binary, args=["mcp", "--data", folder], env=environment)


async def answer(client, tool, **arguments):
    """Returns a tool's output, which the SDK has validated; checks that the text has the same content."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, (tool, result.content)
    assert json.loads(result.content[0].text) == result.structured_content, tool
    return result.structured_content


async def fault(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert result.is_error, (tool, result)
    return json.loads(result.content[0].text)["error"]


async def buyer(client):
    """Acts as a buyer who searches for data and inspects it, and provokes some errors."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert len(tools) == 17 and "list_assets" not in tools, sorted(tools)
    assert all(tool.annotations.read_only_hint and tool.output_schema for tool in tools.values())
    assert "get_current_team" in client.instructions

    team = await answer(client, "get_current_team")
    assert team["roles"] == ["buyer"] and team["nda_accepted"], team
    domains = (await answer(client, "list_taxonomy", kind="domains", limit=100))["domains"]
    assert {"slug": "finance", "label": "Finance"} in domains, domains

    found, cursor = [], None
    while True:
        page = await answer(client, "browse_listings", **({"cursor": cursor} if cursor else {}))
        found += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert len(found) == len({listing["id"] for listing in found}) > 100, len(found)
    cobol = (await answer(client, "browse_listings", query="cobol", sort="price_low"))["items"]
    assert cobol and all("asset_types" in listing for listing in cobol)

    looked = 0
    for listing in found[:30]:
        detail = await answer(client, "get_listing", listing_id=listing["id"])
        assert detail["title"] == listing["title"] and "title" in detail["notice"], detail["notice"]
        evidence = await answer(client, "get_listing_quality", listing_id=listing["id"])
        assert isinstance(evidence["certified"], bool)
        for taskset in detail["tasksets"]:
            where = {"listing_id": listing["id"], "taskset_id": taskset["id"]}
            assert (await answer(client, "get_taskset", **where))["name"] == taskset["name"]
            assert (await answer(client, "preview_taskset_tasks", **where))["tasks"]
            looked += 1
    assert looked > 3, looked

    assert (await answer(client, "list_purchases"))["purchases"]
    assert (await answer(client, "list_offers"))["offers"]
    opportunities = (await answer(client, "list_own_opportunities"))["items"]
    whole = await answer(client, "get_own_opportunity", opportunity_id=opportunities[0]["id"])
    assert whole["title"] == opportunities[0]["title"]
    assert float((await answer(client, "get_wallet"))["credits_balance"]) >= 0

    assert (await fault(client, "get_listing", listing_id=NOBODY))["code"] == "not_found"
    assert (await fault(client, "browse_listings", limit=500))["code"] == "invalid_arguments"
    assert (await fault(client, "browse_listings", colour="red"))["code"] == "unknown_argument"
    try:
        await client.call_tool("list_assets", {})
        raise AssertionError("a buyer called a vendor's tool")
    except MCPError as refusal:
        assert "Unknown tool" in str(refusal), refusal

    assert "# Guide" in (await client.read_resource("marketplace://guide")).contents[0].text
    taxonomy = json.loads((await client.read_resource("marketplace://taxonomy")).contents[0].text)
    assert taxonomy["domains"] == domains
    template = ResourceTemplateReference(type="ref/resource", uri="marketplace://listings/{listing_id}")
    completed = await client.complete(template, {"name": "listing_id", "value": found[0]["id"][:8]})
    assert completed.completion.values[0].startswith(found[0]["id"] + " "), completed
    resource = await client.read_resource(f"marketplace://listings/{found[0]['id']}")
    assert json.loads(resource.contents[0].text)["id"] == found[0]["id"]
    ids = ",".join(listing["id"] for listing in found[:2])
    compared = await client.get_prompt("compare_listings", {"listing_ids": ids})
    assert len(compared.messages) == 3
    prompt = PromptReference(type="ref/prompt", name="compare_listings")
    assert (await client.complete(prompt, {"name": "listing_ids", "value": "cobol"})).completion.values


async def selection():
    """Selects tools and short text by headers, after reading how to connect from the catalog and the server card."""
    async with httpx2.AsyncClient() as http:
        catalog = (await http.get(f"{base_url}/.well-known/mcp/catalog.json")).json()
        card = (await http.get(catalog["entries"][0]["url"])).json()
    assert card["remotes"][0]["url"] == f"{base_url}/v2/mcp/", card
    headers = {"X-MCP-Toolsets": "purchases", "X-MCP-Tools": "get_wallet", "MCP-Text": "short"}
    async with Client(over_http("mkt_demo_buyer", **headers)) as client:
        assert client.server_info.icons and client.server_info.title == card["title"]
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert {"get_current_team", "get_wallet", "list_purchases"} <= tools and "browse_listings" not in tools, tools
        result = await client.call_tool("list_purchases", {})
        assert result.content[0].text.endswith("see structuredContent.") and result.structured_content["purchases"]
    print("selection: ok")


async def vendor(client):
    """Acts as a vendor who checks its own data."""
    tools = {tool.name for tool in (await client.list_tools()).tools}
    assert "list_assets" in tools and "list_purchases" not in tools
    for tool, field in [
        ("list_own_listings", "items"),
        ("list_assets", "items"),
        ("list_codebases", "items"),
        ("list_sales", "sales"),
        ("list_qc_reports", "reports"),
        ("list_opportunities", "items"),
        ("list_estimations", "estimations"),
        ("list_earnings", "items"),
        ("list_asset_groups", "groups"),
        ("list_notifications", "notifications"),
    ]:
        assert (await answer(client, tool))[field], tool
    incomplete = await answer(client, "list_codebases", filter=["stage:is:incomplete"], fields=["id", "missing"])
    asset = incomplete["items"][0]
    assert asset["missing"], asset
    whole = await answer(client, "get_asset", asset_id=asset["id"], kind="codebase")
    assert whole["missing"] == asset["missing"] and whole["stage"] == "incomplete"
    told = await client.get_prompt("why_is_my_asset_incomplete", {"asset_id": asset["id"]})
    assert asset["missing"][0] in told.messages[0].content.text
    listing = (await answer(client, "list_own_listings", workspace_view="live"))["items"][0]["id"]
    assert (await answer(client, "get_listing_qc", listing_id=listing))["listing_id"] == listing
    assert (await answer(client, "get_listing_history", listing_id=listing))["events"]
    assert (await answer(client, "list_listing_assets", listing_id=listing))["assets"]


def leaves(failure):
    """Returns the exceptions in nested exception groups."""
    if isinstance(failure, BaseExceptionGroup):
        return [leaf for part in failure.exceptions for leaf in leaves(part)]
    return [failure]


async def main():
    spoken = {"auto": "2026-07-28", "legacy": "2025-11-25"}
    await selection()
    for transport in [over_http, over_stdio]:
        for mode, version in spoken.items():
            for key, work in [("mkt_demo_buyer", buyer), ("mkt_demo_vendor", vendor)]:
                async with Client(transport(key), mode=mode) as client:
                    assert client.protocol_version == version, client.protocol_version
                    assert client.server_info.name == "marketplace"
                    await work(client)
            try:
                async with Client(transport("mkt_wrong"), mode=mode) as client:
                    await client.list_tools()
            except BaseException as refusal:
                assert any(word in str(leaf) for leaf in leaves(refusal) for word in ["Unauthorized", "401"]), refusal
            else:
                raise AssertionError("an invalid key was accepted")
            print(f"{transport.__name__}, {mode} ({version}): ok")


asyncio.run(main())
