package modelcall

import (
	"strconv"

	"go.opentelemetry.io/otel/attribute"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/tracing"
)

// spanName is the name of the span of the call. It has no model that a caller invented.
func (t *callTrace) spanName() string {
	if out := &t.req.Outcome; out.KnownModel {
		return t.op.Span + " " + tracing.Text(out.Record.Model)
	}
	return t.op.Span
}

// requestAttributes are those of the call's span that are known when it begins.
func (t *callTrace) requestAttributes(at *target) []attribute.KeyValue {
	r := t.req.Outcome.Record
	list := append(t.params, targetAttributes(at)...)
	return append(list,
		tracing.Operation.String(t.op.Span),
		tracing.RequestModel.String(t.req.SpanText(r.Model)),
		tracing.RequestID.String(r.RequestID), tracing.Tenant.String(r.Tenant), tracing.Key.String(r.Key),
	)
}

// targetAttributes say who was asked, of the call's span. Those of the last target count.
func targetAttributes(t *target) []attribute.KeyValue {
	host, port := t.endpoint.Address()
	list := []attribute.KeyValue{
		tracing.Provider.String(tracing.ProviderName(host, t.provider.Name)), tracing.ServerAddress.String(host), tracing.ServerPort.Int(port),
	}
	if name := t.route.Wire.APIType; name != "" {
		list = append(list, tracing.APIType.String(name))
	}
	return list
}

// attemptAttributes are those of a request to a provider. The conventions' url.full is left out: an
// address may have a credential in it.
func (t *callTrace) attemptAttributes(at *target) []attribute.KeyValue {
	host, port := at.endpoint.Address()
	list := []attribute.KeyValue{
		tracing.Method.String("POST"), tracing.ServerAddress.String(host), tracing.ServerPort.Int(port), tracing.Target.String(t.req.SpanText(at.id)),
	}
	if again := t.req.Outcome.Record.Attempts - 1; again > 0 {
		list = append(list, tracing.ResendCount.Int(again))
	}
	return list
}

// answerAttributes are those of the call's span that are known when the call has ended.
func (t *callTrace) answerAttributes(last *target, m *meter) []attribute.KeyValue {
	r := t.req.Outcome.Record
	list := append(targetAttributes(last),
		tracing.Attempts.Int(r.Attempts), tracing.Priced.Bool(r.Priced), tracing.Cost.Float64(float64(r.CostNano)/nanoPerUSD), tracing.UsageSource.String(r.UsageSource))
	if r.Code != "" {
		list = append(list, tracing.Code.String(r.Code))
	}
	for _, text := range [...]struct {
		key   attribute.Key
		value string
	}{{tracing.ResponseID, r.UpstreamID}, {tracing.ResponseModel, t.model}} {
		if text.value != "" {
			list = append(list, text.key.String(t.req.SpanText(text.value)))
		}
	}
	if r.FinishReason != "" {
		list = append(list, tracing.FinishReasons.StringSlice([]string{t.req.SpanText(r.FinishReason)}))
	}
	if r.FirstToken > 0 {
		list = append(list, tracing.FirstChunk.Float64(t.req.Outcome.Begun.Add(r.FirstToken).Sub(t.began).Seconds()))
	}
	if r.UsageSource != activity.UsageNone {
		list = append(list, tracing.InputTokens.Int64(r.PromptTokens), tracing.OutputTokens.Int64(r.CompletionTokens))
	}
	for _, part := range [...]struct {
		key    attribute.Key
		tokens int64
	}{{tracing.CacheReadTokens, r.CachedTokens}, {tracing.CacheWriteTokens, m.usage.CacheWrite}, {tracing.ReasoningTokens, r.ReasoningTokens}} {
		if part.tokens > 0 {
			list = append(list, part.key.Int64(part.tokens))
		}
	}
	return list
}

const nanoPerUSD = 1e9

// parametersOf reads the parameters of a request that spans show. Anything but a number is left out:
// it is refused later, or is the provider's to refuse.
func parametersOf(b *jsonscan.Body) (list []attribute.KeyValue) {
	var output int64
	for i, m := range b.Members() {
		value := b.Value(i)
		switch string(m.Key(b.Data())) {
		case "temperature":
			list = appendFloat(list, tracing.Temperature, value)
		case "top_p":
			list = appendFloat(list, tracing.TopP, value)
		case "max_tokens", "max_completion_tokens", "max_output_tokens":
			n, _ := jsonscan.Int(value)
			output = max(output, n)
		case "n":
			list = appendInt(list, tracing.ChoiceCount, value)
		case "seed":
			list = appendInt(list, tracing.Seed, value)
		}
	}
	if output > 0 {
		list = append(list, tracing.MaxTokens.Int64(output))
	}
	return list
}

func appendInt(list []attribute.KeyValue, key attribute.Key, value []byte) []attribute.KeyValue {
	if n, ok := jsonscan.Int(value); ok {
		list = append(list, key.Int64(n))
	}
	return list
}

func appendFloat(list []attribute.KeyValue, key attribute.Key, value []byte) []attribute.KeyValue {
	const longest = 32 // digits of a number that a person or an SDK writes
	if len(value) > longest || jsonscan.KindOf(value[0]) != '0' {
		return list
	}
	if n, err := strconv.ParseFloat(string(value), 64); err == nil {
		list = append(list, key.Float64(n))
	}
	return list
}

// modelOf returns the model that a part of an answer names, "" for none. Events of Responses and
// Messages have it in an object.
func modelOf(part []byte) (name string) {
	for m := range jsonscan.AllMembers(part) {
		switch string(m.Key(part)) {
		case "model":
			name, _ = jsonscan.String(m.Value(part))
			return name
		case "response", "message":
			object := m.Value(part)
			for m := range jsonscan.AllMembers(object) {
				if string(m.Key(object)) == "model" {
					name, _ = jsonscan.String(m.Value(object))
					return name
				}
			}
		}
	}
	return ""
}
