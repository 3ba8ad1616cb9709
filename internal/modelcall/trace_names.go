package modelcall

import "go.opentelemetry.io/otel/attribute"

// tracerName is the scope of the gateway's spans.
const tracerName = "gatehouse"

// The names of spans. That of a call is its operation, and the model if the catalog has it.
const (
	spanQueue   = "gatehouse.queue"
	spanAttempt = "POST"
)

// eventGuardrail is an event of a span: a guardrail refused a text or took something out of it.
const eventGuardrail = "gatehouse.guardrail"

// staleConnection is the error.type of a request that met a connection which the provider was closing;
// it has no other code, because the call goes on.
const staleConnection = "stale_connection"

// Attributes that OpenTelemetry's semantic conventions define.
const (
	attrOperation        = attribute.Key("gen_ai.operation.name")
	attrProvider         = attribute.Key("gen_ai.provider.name")
	attrRequestModel     = attribute.Key("gen_ai.request.model")
	attrRequestStream    = attribute.Key("gen_ai.request.stream")
	attrMaxTokens        = attribute.Key("gen_ai.request.max_tokens")
	attrTemperature      = attribute.Key("gen_ai.request.temperature")
	attrTopP             = attribute.Key("gen_ai.request.top_p")
	attrChoiceCount      = attribute.Key("gen_ai.request.choice.count")
	attrSeed             = attribute.Key("gen_ai.request.seed")
	attrResponseID       = attribute.Key("gen_ai.response.id")
	attrResponseModel    = attribute.Key("gen_ai.response.model")
	attrFinishReasons    = attribute.Key("gen_ai.response.finish_reasons")
	attrFirstChunk       = attribute.Key("gen_ai.response.time_to_first_chunk")
	attrInputTokens      = attribute.Key("gen_ai.usage.input_tokens")
	attrOutputTokens     = attribute.Key("gen_ai.usage.output_tokens")
	attrCacheReadTokens  = attribute.Key("gen_ai.usage.cache_read.input_tokens")
	attrCacheWriteTokens = attribute.Key("gen_ai.usage.cache_write.input_tokens")
	attrReasoningTokens  = attribute.Key("gen_ai.usage.reasoning.output_tokens")
	attrAPIType          = attribute.Key("openai.api.type")
	attrMethod           = attribute.Key("http.request.method")
	attrResendCount      = attribute.Key("http.request.resend_count")
	attrStatusCode       = attribute.Key("http.response.status_code")
	attrServerAddress    = attribute.Key("server.address")
	attrServerPort       = attribute.Key("server.port")
	attrErrorType        = attribute.Key("error.type")
)

// Attributes of the gateway's own.
const (
	attrRequestID       = attribute.Key("gatehouse.request_id")
	attrTenant          = attribute.Key("gatehouse.tenant")
	attrKey             = attribute.Key("gatehouse.key")
	attrCode            = attribute.Key("gatehouse.code")
	attrCost            = attribute.Key("gatehouse.cost_usd")
	attrPriced          = attribute.Key("gatehouse.priced")
	attrAttempts        = attribute.Key("gatehouse.attempts")
	attrUsageSource     = attribute.Key("gatehouse.usage_source")
	attrTarget          = attribute.Key("gatehouse.target")
	attrWorkstation     = attribute.Key("gatehouse.workstation")
	attrSession         = attribute.Key("gatehouse.session")
	attrGuardrail       = attribute.Key("gatehouse.guardrail.name")
	attrGuardrailAction = attribute.Key("gatehouse.guardrail.action")
	attrGuardrailClass  = attribute.Key("gatehouse.guardrail.class")
)
