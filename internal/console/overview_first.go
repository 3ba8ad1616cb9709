package console

import (
	"cmp"
	"errors"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// firstCall shows how to call the gateway at its own address.
type firstCall struct {
	Open         bool // nobody has called yet
	Curl, Python string
	Address      string
	Calls        bool            // the key may call models
	Desktop      *workstationRow // one to open at once, if nobody has called yet
}

func newFirstCall(v *visit) firstCall {
	f := firstCall{Address: ownAddress(v) + "/v1", Calls: v.has(keys.ChatWrite)}
	model := literal(firstModel(v))
	f.Curl = curl(f.Address+"/chat/completions", `{"model": `+model+`, "messages": [{"role": "user", "content": "Hello"}]}`)
	f.Python = `# pip install openai
import os
from openai import OpenAI

client = OpenAI(base_url=` + literal(f.Address) + `, api_key=os.environ["GATEWAY_API_KEY"])
answer = client.chat.completions.create(
    model=` + model + `,
    messages=[{"role": "user", "content": "Hello"}],
)
print(answer.choices[0].message.content)`
	return f
}

// ownAddress is that under which the browser has reached this gateway.
func ownAddress(v *visit) string {
	switch {
	case v.console.config.Origin != "":
		return v.console.config.Origin
	case v.r.TLS != nil:
		return "https://" + v.r.Host
	}
	return "http://" + v.r.Host
}

// firstModel is a model that the key can call, one that does not fail if there is one, or a text
// that stands for one.
func firstModel(v *visit) string {
	const standIn = "provider/model"
	if !v.has(keys.ModelsRead) {
		return standIn
	}
	var answer struct{ Data []struct{ ID string } }
	if err := v.get("/v1/models", nil, &answer); err != nil {
		return standIn // an example is no reason for the page to fail
	}
	failing := failingModels(v)
	first := ""
	for _, m := range answer.Data {
		switch {
		case strings.Contains(m.ID, "embed"):
		case !failing[m.ID]:
			return m.ID
		case first == "":
			first = m.ID
		}
	}
	return cmp.Or(first, standIn)
}

// failingModels are the models that fail now at all that have them, as far as the key may know.
func failingModels(v *visit) map[string]bool {
	failing := map[string]bool{}
	if !v.has(keys.ProvidersRead) {
		return failing
	}
	cards, _ := readProviders(v) // without them every model counts as healthy
	for i := range cards {
		for _, t := range cards[i].Targets {
			fails, known := failing[t.Model]
			failing[t.Model] = t.Failing() && (fails || !known)
		}
	}
	return failing
}

// shellQuoted is a text as one word of a shell.
func shellQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// isUnknownURL reports whether the gateway does not have what was asked for.
func isUnknownURL(err error) bool {
	var failure *Failure
	return errors.As(err, &failure) && failure.Code == string(apierror.UnknownURL)
}
