"""The SDKs of the vendors get tokens from the same imitations of token endpoints as
the tests of the gateway (internal/testkit/clouds). What they cannot read, or do not
send, is a mistake of the imitation."""

import contextlib
import json
import logging
import os
import tempfile
import time

import msal
import requests
from azure.core.exceptions import ClientAuthenticationError
from azure.identity import CredentialUnavailableError, ManagedIdentityCredential
from botocore.credentials import ContainerProvider
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from google.auth import exceptions, identity_pool
from google.auth.compute_engine import _metadata
from google.auth.transport.requests import Request
from google.oauth2 import credentials as google_user
from google.oauth2 import service_account

from contract import FAKE, case, equal, main

TOKENS = FAKE + "/tokens"
SCOPE = "https://ai.azure.com/.default"
LIFE = 3599  # seconds, of all tokens
ENTRA_SECRET = "entra-secret-0123456789"
UNKNOWN_ACCOUNT = "gone@p.iam.gserviceaccount.com"
logging.disable(logging.CRITICAL)  # of azure-identity, which repeats its errors
CLOUD = ["https://www.googleapis.com/auth/cloud-platform"]


@contextlib.contextmanager
def environment(**values):
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def app_service(header="identity-header-0123456789"):
    return environment(IDENTITY_ENDPOINT=TOKENS + "/msi/token", IDENTITY_HEADER=header)


def virtual_machine():
    return environment(AZURE_POD_IDENTITY_AUTHORITY_HOST=TOKENS)


def lives(seconds):
    if not LIFE - 60 < seconds <= LIFE:
        raise AssertionError(f"the token lives {seconds} s")


def token(text):
    equal(text.startswith("token-"), True, f"{text!r} is a token")


def fails(kind, call):
    try:
        call()
    except kind as e:
        return str(e)
    raise AssertionError("no error")


def contains(text, part):
    if part not in text:
        raise AssertionError(f"{part!r} is not in {text!r}")


class Entra:
    """Sends what is meant for Microsoft's login to the imitation, which has the token endpoint alone."""

    HOST = "https://login.microsoftonline.com"

    def __init__(self):
        self.session = requests.Session()

    def get(self, url, **options):
        answer = requests.Response()
        answer.status_code = 200
        tenant = self.HOST + "/t-1"
        answer._content = json.dumps({
            "tenant_discovery_endpoint": tenant + "/v2.0/.well-known/openid-configuration",
            "issuer": tenant + "/v2.0",
            "authorization_endpoint": tenant + "/oauth2/v2.0/authorize",
            "token_endpoint": tenant + "/oauth2/v2.0/token",
            "metadata": [],
        }).encode()
        return answer

    def post(self, url, **options):
        return self.session.post(url.replace(self.HOST, TOKENS), **options)

    def close(self):
        self.session.close()


def entra(secret):
    return msal.ConfidentialClientApplication(
        "c-1", client_credential=secret, authority=Entra.HOST + "/t-1", http_client=Entra()
    )


@case()
def msal_gets_a_token_of_entra():
    answer = entra(ENTRA_SECRET).acquire_token_for_client([SCOPE])
    token(answer["access_token"])
    lives(answer["expires_in"])


@case()
def msal_reads_a_refusal_of_entra():
    answer = entra("another-secret").acquire_token_for_client([SCOPE])
    equal(answer["error"], "invalid_client", "error")
    contains(answer["error_description"], "AADSTS7000215: ")


@case()
def msal_signs_an_assertion_for_entra():
    assertion = {"client_assertion": "assertion-1"}
    token(entra(assertion).acquire_token_for_client([SCOPE])["access_token"])


def managed(client_id=None):
    identity = msal.UserAssignedManagedIdentity(client_id=client_id) if client_id else msal.SystemAssignedManagedIdentity()
    return msal.ManagedIdentityClient(identity, http_client=requests.Session()).acquire_token_for_client(
        resource="https://ai.azure.com"
    )


@case()
def msal_gets_a_token_of_a_managed_identity():
    for place in (app_service(), virtual_machine()):
        with place:
            for client in (None, "c-2"):
                answer = managed(client)
                token(answer["access_token"])
                lives(answer["expires_in"])


@case()
def msal_reads_refusals_of_managed_identities():
    with app_service():
        contains(managed("unknown")["error_description"], "No User Assigned or Delegated Managed Identity found")
    with app_service("another"):
        contains(managed()["error_description"], "401, Unauthorized")
    with virtual_machine():
        equal(managed("unknown")["error_description"], "Identity not found", "description")


@case()
def azure_identity_gets_a_token_of_a_managed_identity():
    for place in (app_service(), virtual_machine()):
        with place:
            for options in ({}, {"client_id": "c-2"}):
                given = ManagedIdentityCredential(**options).get_token_info(SCOPE)
                token(given.token)
                lives(given.expires_on - time.time())


@case()
def azure_identity_reads_refusals():
    errors = (ClientAuthenticationError, CredentialUnavailableError)
    for place in (app_service(), virtual_machine()):
        with place:
            fails(errors, lambda: ManagedIdentityCredential(client_id="unknown", retry_total=0).get_token(SCOPE))


def account(email):
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return service_account.Credentials.from_service_account_info({
        "type": "service_account",
        "client_email": email,
        "private_key_id": "1",
        "token_uri": TOKENS + "/token",
        "private_key": key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ).decode(),
    }, scopes=CLOUD)


def refreshed(made):
    made.refresh(Request())
    token(made.token)
    lives((made.expiry - type(made.expiry).utcfromtimestamp(time.time())).total_seconds())


@case()
def google_auth_gets_a_token_of_a_service_account():
    refreshed(account("gateway@p.iam.gserviceaccount.com"))


@case()
def google_auth_reads_invalid_grant():
    error = fails(exceptions.RefreshError, lambda: account(UNKNOWN_ACCOUNT).refresh(Request()))
    contains(error, "invalid_grant: Invalid grant: account not found")


def user(refresh_token):
    return google_user.Credentials(
        None, refresh_token=refresh_token, token_uri=TOKENS + "/token", client_id="c-1", client_secret="s-1"
    )


@case()
def google_auth_refreshes_the_token_of_a_developer():
    refreshed(user("refresh-0123456789"))
    error = fails(exceptions.RefreshError, lambda: user("revoked-0123456789").refresh(Request()))
    contains(error, "invalid_grant: Token has been expired or revoked.")


def federated(subject):
    with tempfile.NamedTemporaryFile("w", delete=False) as file:
        file.write(subject)
    return identity_pool.Credentials.from_info({
        "type": "external_account",
        "audience": "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q",
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
        "token_url": TOKENS + "/sts/token",
        "credential_source": {"file": file.name},
    }, scopes=CLOUD)


@case()
def google_auth_exchanges_the_token_of_another_issuer():
    refreshed(federated("subject-0123456789"))
    error = fails(exceptions.OAuthError, lambda: federated("expired-0123456789").refresh(Request()))
    contains(error, "invalid_grant")


@case()
def google_auth_asks_the_metadata_server():
    _metadata._GCE_METADATA_HOST = FAKE.removeprefix("http://")  # of GCE_METADATA_HOST, when it was imported
    given, expiry = _metadata.get_service_account_token(Request(), scopes=CLOUD)
    token(given)
    lives((expiry - type(expiry).utcfromtimestamp(time.time())).total_seconds())


@case()
def botocore_reads_the_credentials_of_a_container():
    with environment(
        AWS_CONTAINER_CREDENTIALS_FULL_URI=TOKENS.replace("127.0.0.1", "localhost") + "/aws/credentials",
        AWS_CONTAINER_AUTHORIZATION_TOKEN="container-token-0123456789",
    ):
        keys = ContainerProvider().load().get_frozen_credentials()
    equal((keys.access_key, keys.secret_key), ("ASIAEXAMPLE", "secret-of-a-container"), "keys")
    token(keys.token)


if __name__ == "__main__":
    main()
