"""A judge as those see it who watch: a span and measurements around each request, and no text in them."""

from dataclasses import dataclass

from opentelemetry.trace import SpanKind, Status, StatusCode

from scoring.judges.requests import Outcome, Reply, Request
from streams.llm.endpoints.judge_metrics import OPERATION, PROVIDER, JudgeMetrics, server_address
from streams.llm.endpoints.judges import ChatModel
from streams.observability.stages import Attributes, Stages
from streams.settings import EndpointSettings


@dataclass(frozen=True, slots=True)
class TracedModel:
    """Replies as ``model`` does, in a span by OpenTelemetry's conventions for generative AI.

    Attributes:
        name: what the settings call the judge.
        endpoint: where it is.
        model: who replies.
        telemetry: measures.
        stages: opens the spans.
    """

    name: str
    endpoint: EndpointSettings
    model: ChatModel
    telemetry: JudgeMetrics
    stages: Stages

    async def complete(self, request: Request, deadline: float) -> Outcome:
        """Return one outcome."""
        span_name = f"{OPERATION} {self.endpoint.model}"
        with self.stages.span(span_name, self._request_attributes(request), SpanKind.CLIENT) as span:
            outcome = await self.model.complete(request, deadline)
            self.telemetry.record_outcome(self.endpoint, outcome)
            if span.is_recording():
                span.set_attributes(_outcome_attributes(outcome))
                if not isinstance(outcome, Reply):
                    span.set_status(Status(StatusCode.ERROR))
            return outcome

    def _request_attributes(self, request: Request) -> Attributes:
        host, port = server_address(self.endpoint)
        return {
            "gen_ai.operation.name": OPERATION,
            "gen_ai.provider.name": PROVIDER,
            "gen_ai.request.model": self.endpoint.model,
            "gen_ai.request.max_tokens": request.max_tokens,
            "gen_ai.request.temperature": request.temperature,
            "gen_ai.output.type": "json",
            "server.address": host,
            "server.port": port,
            "truthgate.judge": self.name,
        }


def _outcome_attributes(outcome: Outcome) -> Attributes:
    if not isinstance(outcome, Reply):
        return {"error.type": outcome.code}
    return {
        "gen_ai.response.model": outcome.model,
        "gen_ai.response.finish_reasons": (outcome.finish.value,),
        "gen_ai.usage.input_tokens": outcome.tokens_in,
        "gen_ai.usage.output_tokens": outcome.tokens_out,
    }
