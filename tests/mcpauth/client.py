"""The Python SDK's OAuth client signs a person in, calls a tool, and again once its token has ended."""

import asyncio
import os
import time
from urllib.parse import parse_qs, urlencode, urlparse
from urllib.request import urlopen

import httpx2
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

ORIGIN, PERSON = os.environ["ORIGIN"], os.environ["PERSON"]


class Storage:
    tokens = info = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.info

    async def set_client_info(self, info):
        self.info = info


class Browser:
    opened = 0

    async def open(self, url):
        self.opened += 1
        self.back = await asyncio.to_thread(lambda: urlopen(f"{PERSON}?{urlencode({'url': url})}").read().decode())

    async def returned(self):
        q = parse_qs(urlparse(self.back).query)
        return AuthorizationCodeResult(code=q["code"][0], state=q["state"][0], iss=q["iss"][0])


async def main():
    storage, browser = Storage(), Browser()
    auth = OAuthClientProvider(
        server_url=f"{ORIGIN}/mcp/demo",
        client_metadata=OAuthClientMetadata(
            client_name="The Python SDK", redirect_uris=["http://127.0.0.1:8765/callback"], grant_types=["authorization_code", "refresh_token"]
        ),
        storage=storage,
        redirect_handler=browser.open,
        callback_handler=browser.returned,
    )
    async with httpx2.AsyncClient(auth=auth, timeout=30) as http:
        async with Client(streamable_http_client(f"{ORIGIN}/mcp/demo", http_client=http)) as client:
            answer = await client.call_tool("echo", {"text": "hello"})
            print("first:", answer.content[0].text)
            first = storage.tokens.access_token
            deadline = time.monotonic() + 60
            while httpx2.post(f"{ORIGIN}/mcp/demo", headers={"Authorization": f"Bearer {first}"}).status_code != 401:
                assert time.monotonic() < deadline, "the token does not end"
                await asyncio.sleep(0.2)
            answer = await client.call_tool("echo", {"text": "hello"})
            assert storage.tokens.access_token != first and browser.opened == 1, f"opened {browser.opened} times"
            print("renewed:", answer.content[0].text)
    elsewhere = httpx2.post(f"{ORIGIN}/mcp/other", headers={"Authorization": f"Bearer {storage.tokens.access_token}"})
    print("elsewhere:", "refused" if elsewhere.status_code == 401 else elsewhere)


asyncio.run(main())
