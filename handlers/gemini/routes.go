// Package gemini has the endpoints of Google's API that other families do not have.
package gemini

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/handlers"
	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

var (
	generateEndpoint   = &handlers.Operation{Name: "gemini", Method: http.MethodPost, Scope: keys.ChatWrite, Recorded: true, Serve: serveGenerate}
	generateStream     = &handlers.Operation{Name: "gemini", Method: http.MethodPost, Scope: keys.ChatWrite, Recorded: true, Serve: serveGenerateStream}
	countContent       = &handlers.Operation{Name: "gemini", Method: http.MethodPost, Scope: keys.ChatWrite, Recorded: true, Serve: serveCountContent}
	embedContent       = &handlers.Operation{Name: "gemini", Method: http.MethodPost, Scope: keys.ChatWrite, Recorded: true, Serve: serveEmbedContent}
	batchEmbedContents = &handlers.Operation{Name: "gemini", Method: http.MethodPost, Scope: keys.ChatWrite, Recorded: true, Serve: serveBatchEmbedContents}
)

func init() {
	handlers.Register(
		handlers.Route{Path: "/v1beta/models/{model}:generateContent", API: api.Google{}, Operation: generateEndpoint},
		handlers.Route{Path: "/v1beta/models/{model}:streamGenerateContent", API: api.Google{}, Operation: generateStream},
		handlers.Route{Path: "/v1beta/models/{model}:countTokens", API: api.Google{}, Operation: countContent},
		handlers.Route{Path: "/v1beta/models/{model}:embedContent", API: api.Google{}, Operation: embedContent},
		handlers.Route{Path: "/v1beta/models/{model}:batchEmbedContents", API: api.Google{}, Operation: batchEmbedContents},
	)
}
