"""The names of the services of LTI Advantage: the scopes that a token is asked for, and their media types."""

LINEITEM = "https://purl.imsglobal.org/spec/lti-ags/scope/lineitem"
LINEITEM_READONLY = "https://purl.imsglobal.org/spec/lti-ags/scope/lineitem.readonly"
SCORE = "https://purl.imsglobal.org/spec/lti-ags/scope/score"
RESULT = "https://purl.imsglobal.org/spec/lti-ags/scope/result.readonly"
NAMES = "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"

LINEITEM_TYPE = "application/vnd.ims.lis.v2.lineitem+json"
LINEITEMS_TYPE = "application/vnd.ims.lis.v2.lineitemcontainer+json"
SCORE_TYPE = "application/vnd.ims.lis.v1.score+json"
MEMBERS_TYPE = "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"
