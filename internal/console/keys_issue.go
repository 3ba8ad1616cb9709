package console

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// issuePage is what the form of a new key shows.
type issuePage struct {
	Form    form
	Most    mostOfKey
	Tenants bool   // the key may issue for other tenants
	ID      string // of the form: what it is sent with twice makes one key
}

// mostOfKey is the most that a new key may have, as GET /v1/about says it.
type mostOfKey struct {
	Scopes, Models, Rates, Budgets []string
	Tools                          []string `json:"mcp"` // empty: none
	Concurrency                    string
	MaxOutput                      int64 `json:"max_output_tokens"`
}

// Bound is what the hint of a field says of its bounds, "" without any.
func (m mostOfKey) Bound(field string) string {
	var most []string
	switch field {
	case "limit":
		for _, budget := range m.Budgets {
			if strings.Contains(budget, "usd/") {
				most = append(most, budget)
			}
		}
	case "rates":
		most = m.Rates
	case "budgets":
		most = m.Budgets
	case "concurrency":
		if m.Concurrency != "" {
			most = []string{m.Concurrency}
		}
	case "max_output_tokens":
		if m.MaxOutput > 0 {
			most = []string{strconv.FormatInt(m.MaxOutput, 10)}
		}
	}
	if len(most) == 0 {
		return ""
	}
	return " At most " + strings.Join(most, ", ") + "."
}

// choice is one of a select.
type choice struct{ Value, Text string }

// Lives are how long a new key can live.
func (*issuePage) Lives() []choice {
	return []choice{{"24h", "in a day"}, {"168h", "in 7 days"}, {"720h", "in 30 days"}, {"2160h", "in 90 days"}, {"8760h", "in a year"}}
}

// More reports whether the fields are filled in that are folded away at first, or wrong.
func (p *issuePage) More() bool {
	for _, field := range []string{"rates", "budgets", "concurrency", "max_output_tokens"} {
		if p.Form.Value(field) != "" || p.Form.Wrong(field) != "" {
			return true
		}
	}
	return false
}

// secretPage shows a secret. It is the answer to the form, and is never shown again.
type secretPage struct {
	keyRow
	Secret   string
	Rotated  bool
	Address  string   // of the API
	Warnings []string // of the gateway, about a new key
}

// againPage is shown if a form is sent twice.
type againPage struct{ Hash string }

// newKey shows the form of a new key, or the page of a key of the configuration that has this name.
func newKey(v *visit) error {
	if v.query.Get("source") == sourceConfiguration {
		return showKeyOf(v, "new")
	}
	return showIssue(v, form{})
}

// readMost reads the most that a key made at run time may have. It is nil if none can be made.
func readMost(v *visit) (*mostOfKey, error) {
	var gateway struct {
		NewKeys *mostOfKey `json:"new_keys"`
	}
	err := v.get("/v1/about", nil, &gateway)
	return gateway.NewKeys, err
}

func showIssue(v *visit, f form) error {
	most, err := readMost(v)
	if err != nil {
		return err
	}
	if most == nil {
		return &Failure{Status: http.StatusNotFound, Code: "not_found", Message: "this gateway makes no keys at run time: its configuration has no block runtime_keys"}
	}
	p := issuePage{Form: f, Most: *most, Tenants: v.caller.AllTenants, ID: f.Value("form")}
	if p.ID == "" {
		var id [16]byte
		_, _ = rand.Read(id[:]) // never fails (crypto/rand)
		p.ID = hex.EncodeToString(id[:])
	}
	return showForm(v, &p.Form, "key_new", &p)
}

// issueKey makes a key, and shows its secret.
func issueKey(v *visit) error {
	f, err := readForm(v)
	if err != nil {
		return err
	}
	path := "/api/v1/keys"
	if tenant := f.Value("tenant"); tenant != "" && v.caller.AllTenants {
		path += "?" + url.Values{"tenant": {tenant}}.Encode()
	}
	var answer struct {
		Data     keyRow
		Key      string
		Warnings []string
	}
	if err := f.refused(v.sendOnce(path, f.Value("form"), keyBody(f, v.now), &answer)); err != nil {
		return err
	}
	switch {
	case f.Failed == nil:
		titled(v, "The key "+answer.Data.Name+" is issued")
		return v.show(http.StatusCreated, "key_secret", &secretPage{keyRow: answer.Data, Secret: answer.Key, Warnings: answer.Warnings, Address: ownAddress(v) + "/v1"})
	case f.Failed.Param == idempotencyHeader:
		titled(v, "This key is issued already")
		return v.render("key_again", againPage{hashIn.FindString(f.Failed.Message)})
	}
	return showIssue(v, f)
}

// hashIn finds the hash of a key in a message.
var hashIn = regexp.MustCompile(`\b[0-9a-f]{64}\b`)

// keyBody is what the form says, for POST /api/v1/keys. A number that is none is sent as it is, so that
// the route says what is wrong with it.
func keyBody(f form, now time.Time) map[string]any {
	body := limitsBody(f)
	body["name"] = strings.TrimSpace(f.Value("name"))
	if scopes := f.Values["scopes"]; len(scopes) > 0 {
		body["scopes"] = scopes
	}
	for _, field := range []string{"models", "mcp"} {
		if all := lines(f.Value(field)); len(all) > 0 {
			body[field] = all
		}
	}
	if life, err := time.ParseDuration(f.Value("expires")); err == nil && life > 0 {
		body["expires_at"] = now.Add(life).UTC().Format(time.RFC3339)
	}
	return body
}

// limitsBody is what a form says of limits: the members that are not empty.
func limitsBody(f form) map[string]any {
	body := map[string]any{}
	for _, field := range []string{"limit", "max_output_tokens"} {
		if text := strings.TrimSpace(f.Value(field)); json.Valid([]byte(text)) && text != "" {
			body[field] = json.RawMessage(text)
		} else if text != "" {
			body[field] = text
		}
	}
	for _, field := range []string{"limit_reset", "concurrency"} {
		if text := strings.TrimSpace(f.Value(field)); text != "" {
			body[field] = text
		}
	}
	for _, field := range []string{"rates", "budgets"} {
		if all := lines(f.Value(field)); len(all) > 0 {
			body[field] = all
		}
	}
	return body
}

// lines are the lines of a text that are not empty; commas separate too.
func lines(text string) (all []string) {
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' || r == ',' }) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}
