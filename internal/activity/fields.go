package activity

import (
	"fmt"
	"reflect"

	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// Field is a field of a record as all have it that keep or show records.
type Field struct {
	// Name is the member of JSON and the column of CSV.
	Name string
	// Of returns a pointer to it: a *string, *bool, *int, *int64, *time.Duration, *time.Time,
	// *[]Attempt or *[]Skipped.
	Of   func(*Record) any
	Form Form
	// Fact is its name on the console's page of a call, if it is a text or a number that has no
	// place of its own there. Why is its name in `caddy gatehouse why`.
	Fact, Why string
}

// Form is how JSON and CSV show a field.
type Form uint8

const (
	OrNull    Form = 1 << iota // JSON has null instead of an empty value
	OrNone                     // JSON has no member for an empty value
	ByID                       // JSON has it only in a row that was asked for by an id; CSV never has it
	OfSession                  // JSON has it only for a VNC session that was opened
	OfTenants                  // JSON has it only for those who see several tenants
	Decimals                   // JSON has a duration with microseconds, not in whole milliseconds
	Money                      // the field is in nano-USD, JSON and CSV are in USD
	InItem                     // JSON has it among the members of OpenRouter's item
)

// Has reports whether a form is one of f.
func (f Form) Has(form Form) bool { return f&form != 0 }

// Fields are the fields of a record, in the order of their members in JSON. The data of a row (see
// Encode), JSON, CSV, the console and the commands are made from this list. A new field is a field
// of Record and a row at the end.
var Fields = []Field{
	{Name: "model", Of: func(r *Record) any { return &r.Model }, Form: InItem},
	{Name: "provider_name", Of: func(r *Record) any { return &r.Provider }, Form: InItem},
	{Name: "usage", Of: func(r *Record) any { return &r.CostNano }, Form: InItem | Money},
	{Name: "prompt_tokens", Of: func(r *Record) any { return &r.PromptTokens }, Form: InItem},
	{Name: "completion_tokens", Of: func(r *Record) any { return &r.CompletionTokens }, Form: InItem},
	{Name: "reasoning_tokens", Of: func(r *Record) any { return &r.ReasoningTokens }, Form: InItem},
	{Name: "cached_tokens", Of: func(r *Record) any { return &r.CachedTokens }, Form: InItem},
	{Name: "id", Of: func(r *Record) any { return &r.ID }},
	{Name: "request_id", Of: func(r *Record) any { return &r.RequestID }},
	{Name: "created_at", Of: func(r *Record) any { return &r.CreatedAt }},
	{Name: "key", Of: func(r *Record) any { return &r.Key }},
	{Name: "route", Of: func(r *Record) any { return &r.Route }},
	{Name: "status", Of: func(r *Record) any { return &r.Status }},
	{Name: "code", Of: func(r *Record) any { return &r.Code }, Form: OrNull},
	{Name: "stream", Of: func(r *Record) any { return &r.Stream }},
	{Name: "latency_ms", Of: func(r *Record) any { return &r.Latency }},
	{Name: "first_token_ms", Of: func(r *Record) any { return &r.FirstToken }, Form: OrNull},
	{Name: "finish_reason", Of: func(r *Record) any { return &r.FinishReason }, Form: OrNull,
		Fact: "Finish reason"},
	{Name: "usage_source", Of: func(r *Record) any { return &r.UsageSource }},
	{Name: "priced", Of: func(r *Record) any { return &r.Priced }},
	{Name: "attempts", Of: func(r *Record) any { return &r.Attempts }},
	{Name: "attempted", Of: func(r *Record) any { return &r.Attempted }, Form: OrNone},
	{Name: "output_cap", Of: func(r *Record) any { return &r.OutputCap }, Form: OrNone},
	{Name: "workstation", Of: func(r *Record) any { return &r.Workstation }, Form: OrNone},
	{Name: "tenant", Of: func(r *Record) any { return &r.Tenant }, Form: OfTenants | OrNone},
	{Name: "refused_by", Of: func(r *Record) any { return &r.RefusedBy }, Form: OrNone},
	{Name: "queued_ms", Of: func(r *Record) any { return &r.Queued }, Form: OrNone | Decimals},
	{Name: "overhead_ms", Of: func(r *Record) any { return &r.Overhead }, Form: OrNone | Decimals},
	{Name: "trace_id", Of: func(r *Record) any { return &r.TraceID }, Form: OrNone},
	{Name: "user", Of: func(r *Record) any { return &r.User }, Form: OrNone},
	{Name: "upstream_id", Of: func(r *Record) any { return &r.UpstreamID }, Form: ByID | OrNull},
	{Name: "client_request_id", Of: func(r *Record) any { return &r.ClientRequestID }, Form: ByID | OrNull},
	{Name: "api_key_hash", Of: func(r *Record) any { return &r.KeyHash }, Form: ByID},
	{Name: "family", Of: func(r *Record) any { return &r.Family }, Form: ByID},
	{Name: "upstream_model", Of: func(r *Record) any { return &r.UpstreamModel }, Form: ByID | OrNull},
	{Name: "native_finish_reason", Of: func(r *Record) any { return &r.NativeFinishReason }, Form: ByID | OrNull,
		Fact: "The provider’s"},
	{Name: "ended", Of: func(r *Record) any { return &r.Ended }, Form: OfSession},
	{Name: "bytes_up", Of: func(r *Record) any { return &r.BytesUp }, Form: OfSession},
	{Name: "bytes_down", Of: func(r *Record) any { return &r.BytesDown }, Form: OfSession},
	unitField(units.AudioInput, "Sound of the input (tokens)"),
	unitField(units.AudioOutput, "Sound of the output (tokens)"),
	unitField(units.ImageInput, "Pictures of the input (tokens)"),
	unitField(units.ImageOutput, "Pictures of the output (tokens)"),
	unitField(units.Queries, "Search units"),
	unitField(units.Images, "Pictures"),
	unitField(units.Characters, "Characters spoken"),
	unitField(units.Millis, "Sound (ms)"),
	{Name: "method", Of: func(r *Record) any { return &r.Method }, Form: OrNone, Fact: "Method", Why: "Method"},
	{Name: "is_error", Of: func(r *Record) any { return &r.IsError }, Form: OrNone, Why: "Tool error"},
	{Name: "request_bytes", Of: func(r *Record) any { return &r.RequestBytes }, Form: OrNone, Why: "Bytes sent"},
	{Name: "answer_bytes", Of: func(r *Record) any { return &r.AnswerBytes }, Form: OrNone, Why: "Bytes back"},
	{Name: "role", Of: func(r *Record) any { return &r.Role }, Form: OrNone, Fact: "Role", Why: "Role"},
	{Name: "actions", Of: func(r *Record) any { return &r.Actions }, Form: OrNone, Fact: "Actions", Why: "Actions"},
	{Name: "screenshots", Of: func(r *Record) any { return &r.Screenshots }, Form: OrNone, Fact: "Pictures taken", Why: "Pictures"},
	{Name: "typed", Of: func(r *Record) any { return &r.Typed }, Form: OrNone, Fact: "Characters typed", Why: "Characters"},
	{Name: "recording", Of: func(r *Record) any { return &r.Recording }, Form: OrNone, Fact: "Recording", Why: "Recording"},
	{Name: "skipped", Of: func(r *Record) any { return &r.Skipped }, Form: OrNone},
	{Name: "end_user", Of: func(r *Record) any { return &r.EndUser }, Form: OrNone, Why: "End user"},
	{Name: "app", Of: func(r *Record) any { return &r.App }, Form: OrNone, Why: "App"},
	{Name: "transport", Of: func(r *Record) any { return &r.Transport }, Form: OrNone, Fact: "Transport", Why: "Transport"},
	{Name: "connection_id", Of: func(r *Record) any { return &r.Connection }, Form: OrNone, Fact: "Connection", Why: "Connection"},
}

func unitField(u units.Unit, fact string) Field {
	return Field{Name: u.String(), Of: func(r *Record) any { return &r.Units[u] }, Form: OrNone, Fact: fact, Why: u.String()}
}

// UnitNames are the names of units in rows and sums.
var UnitNames = func() (names [units.Number]string) {
	for u := range names {
		names[u] = units.Unit(u).String()
	}
	return names
}()

// Empty reports whether a field of a record has no value.
func (f *Field) Empty(r *Record) bool {
	v := reflect.ValueOf(f.Of(r)).Elem()
	return v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0
}

// Text is a field of a record as people read it.
func (f *Field) Text(r *Record) string {
	v := reflect.ValueOf(f.Of(r)).Elem()
	if f.Form.Has(Money) {
		return fmt.Sprintf("%.9f USD", float64(v.Int())/1e9)
	}
	return fmt.Sprint(v)
}
