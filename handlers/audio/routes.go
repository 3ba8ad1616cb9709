// Package audio has the endpoints of sound: speech, transcriptions and translations.
package audio

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/handlers"
	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

var (
	speechEndpoint     = &handlers.Operation{Name: "speech", Method: http.MethodPost, Scope: keys.ChatWrite, Recorded: true, Serve: serveSpeech}
	transcribeEndpoint = &handlers.Operation{Name: "transcriptions", Method: http.MethodPost, Scope: keys.ChatWrite, Recorded: true, Serve: serveTranscriptions}
	translateEndpoint  = &handlers.Operation{Name: "translations", Method: http.MethodPost, Scope: keys.ChatWrite, Recorded: true, Serve: serveTranslations}
)

func init() {
	handlers.Register(
		handlers.Route{Path: "/v1/audio/speech", API: api.OpenAI{}, Operation: speechEndpoint},
		handlers.Route{Path: "/v1/audio/transcriptions", API: api.OpenAI{}, Operation: transcribeEndpoint},
		handlers.Route{Path: "/v1/audio/translations", API: api.OpenAI{}, Operation: translateEndpoint},
		handlers.Route{Path: "/api/v1/audio/speech", API: api.OpenRouter{}, Operation: speechEndpoint},
		handlers.Route{Path: "/api/v1/audio/transcriptions", API: api.OpenRouter{}, Operation: transcribeEndpoint},
	)
}
