"""The identities at other sites that are linked to an account, as its pages list them."""

import hashlib
from dataclasses import dataclass

from app.storage.records import AccountId
from app.web.edge.identity import RequestContext

KEY_LENGTH = 16


@dataclass(frozen=True)
class IdentityRow:
    """`key` names the identity in a form, and stays the same while others are linked or unlinked."""

    key: str
    label: str
    display: str
    issuer: str
    subject: str


async def show_identities(context: RequestContext, account: AccountId) -> tuple[IdentityRow, ...]:
    """The account's identities, the one linked first first, under the labels that the providers have here."""
    labels = {client.provider.issuer: client.provider.label for client in context.site.providers.values()}
    labels |= {platform.id: platform.name for platform in await context.site.store.lti_registrations.all()}
    return tuple(
        IdentityRow(
            key=hashlib.sha256(f"{one.issuer}\n{one.subject}".encode()).hexdigest()[:KEY_LENGTH],
            label=labels.get(one.issuer, one.issuer),
            display=one.display,
            issuer=one.issuer,
            subject=one.subject,
        )
        for one in await context.site.store.identities.of_account(account)
    )
