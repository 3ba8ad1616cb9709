package messagesonchat

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// putLimit maps max_tokens, unless the options replace it. 0 asks only to fill a cache, which no
// chat provider can do.
func (t *translation) putLimit() error {
	limit, n, err := t.body.Int("max_tokens", 0)
	switch {
	case err != nil:
		return err
	case limit == nil && t.opt.Count:
		return nil
	case limit == nil:
		return translate.Missing("max_tokens")
	case n == 0:
		return apierror.New(apierror.UnsupportedParameter,
			`"max_tokens" cannot be 0: the provider of this model has another API, which cannot fill a cache without an answer`).WithParam("max_tokens")
	case t.opt.MaxOutput > 0:
		limit = strconv.AppendInt(nil, t.opt.MaxOutput, 10)
	}
	field := t.opt.MaxTokensField
	if field == "" {
		field = "max_completion_tokens"
	}
	t.put(field, limit)
	return nil
}

// maxStops is how many stop sequences OpenAI accepts, and most other providers.
const maxStops = 4

// putStop maps stop_sequences.
func (t *translation) putStop() error {
	value := t.body.Get("stop_sequences")
	if value == nil {
		return nil
	}
	spans, err := translate.Elements(value, "stop_sequences", maxStops)
	if err != nil {
		return err
	}
	for i, span := range spans {
		if span.Kind != '"' {
			return translate.Invalid(translate.At("stop_sequences", i), "a string")
		}
	}
	switch {
	case len(spans) == 0:
	case t.opt.Responses: // the gateway itself looks for them
		_, err = translate.StopSequences(value, "stop_sequences")
		fallthrough
	default:
		t.put("stop", value)
	}
	return err
}

// putTopK keeps top_k for OpenRouter: OpenAI refuses it.
func (t *translation) putTopK() error {
	value, _, err := t.body.Int("top_k", 0)
	switch {
	case value == nil || err != nil:
		return err
	case !t.opt.OpenRouter:
		return translate.Unsupported("top_k")
	}
	t.put("top_k", value)
	return nil
}

// maxUser is how many characters OpenAI accepts as user.
const maxUser = 64

// putUser maps metadata.user_id. One that is too long becomes its hash, which is the same in every
// call of the user.
func (t *translation) putUser() error {
	metadata, ok, err := t.body.Object("metadata")
	if !ok || err != nil {
		return err
	}
	if err := metadata.Only("user_id"); err != nil {
		return err
	}
	id, err := metadata.DecodedText("user_id")
	if err != nil || id == "" {
		return err
	}
	if utf8.RuneCountInString(id) > maxUser {
		sum := sha256.Sum256([]byte(id))
		id = hex.EncodeToString(sum[:]) // 64 characters
	}
	t.out = jsonscan.AppendString(translate.AppendKey(t.out, "user"), id)
	return nil
}

// putTier maps service_tier; auto is the default of both APIs.
func (t *translation) putTier() error {
	switch tier, err := t.body.DecodedText("service_tier"); {
	case err != nil:
		return err
	case tier == "standard_only":
		t.put("service_tier", []byte(`"default"`))
	case tier != "" && tier != "auto":
		return translate.UnsupportedValue("service_tier", tier)
	}
	return nil
}

// putCacheControl keeps the automatic breakpoint.
func (t *translation) putCacheControl() error {
	cache, err := t.opt.cacheControl(t.body)
	if cache != nil {
		t.put("cache_control", cache)
	}
	return err
}
