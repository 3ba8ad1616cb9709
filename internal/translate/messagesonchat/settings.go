package messagesonchat

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// putLimit maps max_tokens, unless the options replace it. 0 asks only to fill a cache, which no
// chat provider can do.
func (t *translation) putLimit() {
	limit, n := t.body.Int("max_tokens", 0)
	switch {
	case limit == nil && t.opt.MaxOutput == 0:
		return
	case limit != nil && n == 0:
		t.body.Fail(apierror.New(apierror.UnsupportedParameter,
			`"max_tokens" cannot be 0: the provider of this model has another API, which cannot fill a cache without an answer`).WithParam("max_tokens"))
	case t.opt.MaxOutput > 0:
		limit = strconv.AppendInt(nil, t.opt.MaxOutput, 10)
	}
	field := t.opt.MaxTokensField
	if field == "" {
		field = "max_completion_tokens"
	}
	t.out.Member(field, limit)
}

// maxStops is how many stop sequences OpenAI accepts, and most other providers.
const maxStops = 4

// putStop maps stop_sequences.
func (t *translation) putStop() {
	value := t.body.Get("stop_sequences")
	if value == nil {
		return
	}
	spans, err := translate.Elements(value, "stop_sequences", maxStops)
	t.body.Fail(err)
	for i, span := range spans {
		if span.Kind != '"' {
			t.body.Fail(translate.Invalid(translate.At("stop_sequences", i), "a string"))
		}
	}
	if len(spans) == 0 {
		return
	}
	if t.opt.Responses { // the gateway itself looks for them
		_, err = translate.StopSequences(value, "stop_sequences")
		t.body.Fail(err)
	}
	t.out.Member("stop", value)
}

// putTopK keeps top_k for OpenRouter: OpenAI refuses it.
func (t *translation) putTopK() {
	switch value, _ := t.body.Int("top_k", 0); {
	case value == nil:
	case !t.opt.OpenRouter:
		t.body.Fail(translate.Unsupported("top_k"))
	default:
		t.out.Member("top_k", value)
	}
}

// maxUser is how many characters OpenAI accepts as user.
const maxUser = 64

// putUser maps metadata.user_id. One that is too long becomes its hash, which is the same in every
// call of the user.
func (t *translation) putUser() {
	metadata, _ := t.body.Object("metadata", "user_id")
	id := metadata.DecodedText("user_id")
	if id == "" {
		return
	}
	if utf8.RuneCountInString(id) > maxUser {
		sum := sha256.Sum256([]byte(id))
		id = hex.EncodeToString(sum[:]) // 64 characters
	}
	t.out.StringMember("user", id)
}

// putTier maps service_tier; auto is the default of both APIs.
func (t *translation) putTier() {
	switch tier := t.body.DecodedText("service_tier"); tier {
	case "", "auto":
	case "standard_only":
		t.out.StringMember("service_tier", "default")
	default:
		t.body.Fail(translate.UnsupportedValue("service_tier", tier))
	}
}
