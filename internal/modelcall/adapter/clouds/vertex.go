package clouds

import (
	"net/url"

	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// vertexAnthropic is the dialect of Claude on Vertex AI. The base URL ends in
// …/locations/LOCATION/publishers/anthropic.
var vertexAnthropic = &provider.Dialect{
	Name: provider.VertexAnthropic,
	Bases: map[string]string{
		provider.Google: "https://{host}/{version}/projects/{project}/locations/{location}/publishers/anthropic",
	},
	Versions: map[string]string{provider.Google: "v1"},
	Path:     rawPredictPath,
	KeyField: provider.BearerField,
}

func rawPredictPath(op provider.Operation, model string, stream bool) string {
	switch {
	case op == provider.CountTokens:
		return googlePath("count-tokens", ":rawPredict") // the body names the model
	case op == provider.Messages && stream:
		return googlePath(model, ":streamRawPredict")
	case op == provider.Messages:
		return googlePath(model, ":rawPredict")
	}
	return ""
}

// googlePath is the path of a method of a model.
func googlePath(model, method string) string { return "/models/" + url.PathEscape(model) + method }
