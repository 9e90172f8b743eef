"""The columns of a platform's gradebook: finding the one of an assignment, or making it."""

from dataclasses import dataclass

from joserfc.jwk import RSAKey

from app.linking.fetching import NoAnswer, is_encrypted
from app.linking.grade_services import LINEITEM, LINEITEM_READONLY, LINEITEM_TYPE, LINEITEMS_TYPE
from app.linking.lti import Registration
from app.linking.pages import read_pages
from app.linking.platforms import Platforms


@dataclass(frozen=True)
class Column:
    """What a line item says. `assignment` is our id of it, by which it is found again."""

    assignment: str
    title: str
    maximum: float
    kind: str


async def find_or_make_line_item(
    platforms: Platforms,
    registration: Registration,
    key: RSAKey,
    address: str,
    scopes: tuple[str, ...],
    column: Column,
) -> str | None:
    """The address of the assignment's line item. None if there is none and the platform lets us make none.

    Raises NoAnswer and NoToken.
    """
    scope = next((one for one in (LINEITEM, LINEITEM_READONLY) if one in scopes), None)
    if scope is None or not address:
        return None
    async for page in read_pages(platforms, registration, key, scope, address, LINEITEMS_TYPE):
        for item in page if isinstance(page, list) else ():
            if isinstance(item, dict) and item.get("resourceId") == column.assignment:
                return _read_id(item.get("id"))
    return await _make(platforms, registration, key, address, column) if scope == LINEITEM else None


async def _make(platforms: Platforms, registration: Registration, key: RSAKey, address: str, column: Column) -> str:
    item = {
        "label": column.title,
        "scoreMaximum": column.maximum,
        "resourceId": column.assignment,
        "tag": column.kind,
    }
    headers = {"content-type": LINEITEM_TYPE, "accept": LINEITEM_TYPE}
    answer = await platforms.call(registration, key, (LINEITEM,), "POST", address, json=item, headers=headers)
    answer.expect(address, 200, 201)
    try:
        found = answer.read_json()
    except ValueError as problem:
        raise NoAnswer(f"{address} answers no JSON") from problem
    return _read_id(found.get("id") if isinstance(found, dict) else None)


def _read_id(value: object) -> str:
    if isinstance(value, str) and len(value) <= 1000 and is_encrypted(value):
        return value
    raise NoAnswer(f"a line item has the address {value!r}")
