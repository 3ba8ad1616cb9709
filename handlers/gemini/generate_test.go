package gemini

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/handlerstest"
)

// The path names the model, with slashes and colons, and what is done.
func TestThePathNamesTheModelAndTheOperation(t *testing.T) {
	g := handlerstest.Start(t, handlerstest.Setup{})
	for path, want := range map[string]string{
		"/v1beta/models/acme/x:generateContent":    "POST /v1beta/models/{model}:generateContent",
		"/v1beta/models/acme/x:y:countTokens":      "POST /v1beta/models/{model}:countTokens",
		"/v1/models/acme/x:streamGenerateContent":  "POST /v1beta/models/{model}:streamGenerateContent",
		"/v1alpha/models/acme/x:embedContent":      "POST /v1beta/models/{model}:embedContent",
		"/v1beta/models/acme/x:batchEmbedContents": "POST /v1beta/models/{model}:batchEmbedContents",
	} {
		r := handlerstest.NewRequest("POST", path, "chat", "{}")
		r.Header.Set("Anthropic-Version", "2023-06-01") // by which lists of models are told apart
		handlerstest.Send(t, handlerstest.API(t, g), r).Want(t, 400, "", "")
		if row := handlerstest.Rows(t, g)[0]; row.Route != want || row.Family != "google" || row.Key != "chat" {
			t.Errorf("%s has left %+v", path, row)
		}
	}
}
