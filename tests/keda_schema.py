"""The part of KEDA's resources that our manifests use, as KEDA 2's documentation has it; all else is refused."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Whole = Annotated[int, Field(ge=0, strict=True)]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Metadata(Strict):
    name: str
    namespace: str


class SecretTarget(Strict):
    parameter: Literal["connection", "password"]
    name: str
    key: str


class SecretTargets(Strict):
    secretTargetRef: Annotated[list[SecretTarget], Field(min_length=1)]


class TriggerAuthentication(Strict):
    apiVersion: Literal["keda.sh/v1alpha1"]
    kind: Literal["TriggerAuthentication"]
    metadata: Metadata
    spec: SecretTargets


class Name(Strict):
    name: str


class Query(Strict):
    """Every value of a trigger's metadata is a string, numbers too. With a `connection`, it needs no host or user."""

    query: Annotated[str, Field(pattern=r"^SELECT ", strict=True)]
    targetQueryValue: Annotated[str, Field(pattern=r"^[1-9]\d*(\.\d+)?$", strict=True)]
    activationTargetQueryValue: Annotated[str, Field(pattern=r"^\d+(\.\d+)?$", strict=True)] = "0"


class Trigger(Strict):
    type: Literal["postgresql"]
    metadata: Query
    authenticationRef: Name


class Fallback(Strict):
    failureThreshold: Whole
    replicas: Whole


class Rules(Strict):
    stabilizationWindowSeconds: Annotated[int, Field(ge=0, le=3600, strict=True)]


class Behavior(Strict):
    scaleDown: Rules


class Autoscaler(Strict):
    behavior: Behavior


class Advanced(Strict):
    horizontalPodAutoscalerConfig: Autoscaler


class Scaling(Strict):
    scaleTargetRef: Name
    minReplicaCount: Whole = 0
    maxReplicaCount: Whole = 100
    pollingInterval: Whole = 30
    cooldownPeriod: Whole = 300
    fallback: Fallback | None = None
    advanced: Advanced | None = None
    triggers: Annotated[list[Trigger], Field(min_length=1)]


class ScaledObject(Strict):
    apiVersion: Literal["keda.sh/v1alpha1"]
    kind: Literal["ScaledObject"]
    metadata: Metadata
    spec: Scaling
