// Package recordings has the endpoints of recorded sessions: the list, the file, and what a
// recording shows.
package recordings

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/handlers"
	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/recording"
	"github.com/gatehouse-proxy/gatehouse/internal/replay"
)

var (
	list   = &handlers.Operation{Name: "recordings", Method: http.MethodGet, Scope: keys.RecordingsRead, Serve: serveRecordings}
	show   = &handlers.Operation{Name: "recordings", Method: http.MethodGet, Scope: keys.RecordingsRead, Recorded: true, Serve: serveRecording}
	file   = &handlers.Operation{Name: "recordings", Method: http.MethodGet, Scope: keys.RecordingsRead, Recorded: true, Serve: serveRecordingFile}
	fbs    = &handlers.Operation{Name: "recordings", Method: http.MethodGet, Scope: keys.RecordingsRead, Recorded: true, Serve: serveFBS}
	socket = &handlers.Operation{Name: "recordings", Method: http.MethodGet, Scope: keys.RecordingsRead, Recorded: true, Serve: serveReplay}
	remove = &handlers.Operation{Name: "recordings", Method: http.MethodDelete, Scope: keys.RecordingsManage, Recorded: true, Serve: deleteRecording}
)

func init() {
	handlers.Answers[recording.Page](list)
	handlers.Answers[replay.Shown](show)
	handlers.Register(
		handlers.Route{Path: "/v1/recordings", API: api.OpenAI{}, Operation: list},
		handlers.Route{Path: "/v1/recordings/{id}", API: api.OpenAI{}, Operation: show},
		handlers.Route{Path: "/v1/recordings/{id}", API: api.OpenAI{}, Operation: remove},
		handlers.Route{Path: "/v1/recordings/{id}/file", API: api.OpenAI{}, Operation: file},
		handlers.Route{Path: "/v1/recordings/{id}/fbs", API: api.OpenAI{}, Operation: fbs},
		handlers.Route{Path: "/v1/recordings/{id}/socket", API: api.OpenAI{}, Operation: socket},
	)
}
