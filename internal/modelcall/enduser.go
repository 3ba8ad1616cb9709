package modelcall

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/redact"
)

// maxUser bounds a field that names an end user, in bytes: Claude Code's have 200. A longer one
// names nobody.
const maxUser = 2048

var (
	// userFields name the end user, the first that is there: OpenAI's and OpenRouter's, and the one
	// by which OpenAI replaces it. Anthropic's metadata.user_id comes after them.
	userFields = []string{"user", "safety_identifier"}
	// appHeaders name the program: OpenRouter's, today's and the one before. Behind them comes
	// HTTP-Referer, which has its address.
	appHeaders = []string{"X-Openrouter-Title", "X-Title"}
)

// noteCaller notes in the record for whom and by which program a call is made, as the caller says.
// It is called when no guardrail will take anything out of the request any more.
func noteCaller(c *call) {
	if c.deps.NoEndUser {
		return
	}
	r, secret := c.req.Outcome.Record, c.req.Caller.Secret
	r.EndUser, r.App = redact.Own(endUser(&c.body), secret), redact.Own(app(c.req.HTTP.Header), secret)
}

func endUser(b *jsonscan.Body) string {
	for _, field := range userFields {
		if i, ok := b.Find(field); ok {
			if name := userName(b.Value(i)); name != "" {
				return name
			}
		}
	}
	i, ok := b.Find("metadata")
	if !ok || b.Value(i)[0] != '{' {
		return ""
	}
	metadata := b.Value(i)
	for m := range jsonscan.AllMembers(metadata) {
		if string(m.Key(metadata)) == "user_id" {
			return withoutAccount(userName(m.Value(metadata)))
		}
	}
	return ""
}

func userName(value []byte) string {
	if len(value) > maxUser {
		return ""
	}
	name, _ := jsonscan.String(value)
	return name
}

// withoutAccount hides the account in what Claude Code sends as the ID of a user. It is a hash, the
// same in each session of an account, or of a device that has none. Versions 2.1.78 and later send
// an object as a text, older ones "user_<device>_account_<account>_session_<session>".
func withoutAccount(id string) string {
	var said struct {
		Device  string `json:"device_id"`
		Account string `json:"account_uuid"`
	}
	if strings.HasPrefix(id, "{") {
		_ = json.Unmarshal([]byte(id), &said) // another text is kept as it is
	} else if before, _, ok := strings.Cut(id, "_session_"); ok {
		said.Device, said.Account, ok = strings.Cut(before, "_account_")
		if !ok {
			return id
		}
	}
	name := said.Account
	if name == "" {
		name = said.Device
	}
	if name == "" {
		return id
	}
	hash := sha256.Sum256([]byte(name))
	const shown = 8 // bytes
	return "claude-code-" + hex.EncodeToString(hash[:shown])
}

// app returns the name of the program, or its address without what may be private in it.
func app(h http.Header) string {
	if name := firstHeader(h, appHeaders); name != "" {
		return name
	}
	referer := h["Http-Referer"]
	if len(referer) == 0 {
		return ""
	}
	address, err := url.Parse(referer[0])
	if err != nil || address.Host == "" {
		return ""
	}
	return (&url.URL{Scheme: address.Scheme, Host: address.Host, Path: address.Path}).String()
}
