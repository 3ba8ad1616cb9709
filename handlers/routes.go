package handlers

import (
	"maps"
	"net/http"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// endpoint is one operation of the gateway, the same for all families.
type endpoint struct {
	name     string     // the single module that has it is http.handlers.gatehouse_<name>
	method   string     // a GET endpoint answers HEAD too
	scope    keys.Scope // 0 = any valid key
	recorded bool       // a success leaves a record too
	serve    func(*apiRequest) error
}

var (
	chatEndpoint       = &endpoint{"chat", http.MethodPost, keys.ChatWrite, true, serveChat}
	responsesEndpoint  = &endpoint{"responses", http.MethodPost, keys.ChatWrite, true, serveResponses}
	inputEndpoint      = &endpoint{"input_tokens", http.MethodPost, keys.ChatWrite, true, serveInputTokens}
	compactEndpoint    = &endpoint{"compact", http.MethodPost, keys.ChatWrite, true, serveCompact}
	readEndpoint       = &endpoint{"stored_responses", http.MethodGet, keys.ChatWrite, true, readResponse}
	deleteEndpoint     = &endpoint{"stored_responses", http.MethodDelete, keys.ChatWrite, true, deleteResponse}
	cancelEndpoint     = &endpoint{"stored_responses", http.MethodPost, keys.ChatWrite, true, cancelResponse}
	itemsEndpoint      = &endpoint{"stored_responses", http.MethodGet, keys.ChatWrite, true, listInputItems}
	messagesEndpoint   = &endpoint{"messages", http.MethodPost, keys.ChatWrite, true, serveMessages}
	countEndpoint      = &endpoint{"count_tokens", http.MethodPost, keys.ChatWrite, true, serveCountTokens}
	embeddingsEndpoint = &endpoint{"embeddings", http.MethodPost, keys.ChatWrite, true, serveEmbeddings}
	rerankEndpoint     = &endpoint{"rerank", http.MethodPost, keys.ChatWrite, true, serveRerank}
	routerRerank       = &endpoint{"rerank", http.MethodPost, keys.ChatWrite, true, serveRouterRerank}
	completeEndpoint   = &endpoint{"completions", http.MethodPost, keys.ChatWrite, true, serveCompletions}
	moderateEndpoint   = &endpoint{"moderations", http.MethodPost, keys.ChatWrite, true, serveModerations}
	generateEndpoint   = &endpoint{"gemini", http.MethodPost, keys.ChatWrite, true, serveGenerate}
	generateStream     = &endpoint{"gemini", http.MethodPost, keys.ChatWrite, true, serveGenerateStream}
	countContent       = &endpoint{"gemini", http.MethodPost, keys.ChatWrite, true, serveCountContent}
	embedContent       = &endpoint{"gemini", http.MethodPost, keys.ChatWrite, true, serveEmbedContent}
	batchEmbedContents = &endpoint{"gemini", http.MethodPost, keys.ChatWrite, true, serveBatchEmbedContents}
	imagesEndpoint     = &endpoint{"images", http.MethodPost, keys.ChatWrite, true, serveImages}
	routerImages       = &endpoint{"router_images", http.MethodPost, keys.ChatWrite, true, serveRouterImages}
	imageEditsEndpoint = &endpoint{"image_edits", http.MethodPost, keys.ChatWrite, true, serveImageEdits}
	speechEndpoint     = &endpoint{"speech", http.MethodPost, keys.ChatWrite, true, serveSpeech}
	transcribeEndpoint = &endpoint{"transcriptions", http.MethodPost, keys.ChatWrite, true, serveTranscriptions}
	translateEndpoint  = &endpoint{"translations", http.MethodPost, keys.ChatWrite, true, serveTranslations}
	modelsEndpoint     = &endpoint{"models", http.MethodGet, keys.ModelsRead, false, serveModels}
	embeddersEndpoint  = &endpoint{"embedding_models", http.MethodGet, keys.ModelsRead, false, serveEmbeddingModels}
	imageModels        = &endpoint{"image_models", http.MethodGet, keys.ModelsRead, false, serveImageModels}
	countModels        = &endpoint{"model_count", http.MethodGet, keys.ModelsRead, false, serveModelCount}
	modelEndpoints     = &endpoint{"model_endpoints", http.MethodGet, keys.ModelsRead, false, serveModelEndpoints}
	activityEndpoint   = &endpoint{"activity", http.MethodGet, keys.ActivityRead, false, serveActivity}
	seriesEndpoint     = &endpoint{"activity_series", http.MethodGet, keys.ActivityRead, false, serveSeries}
	generationEndpoint = &endpoint{"generation", http.MethodGet, keys.ActivityRead, false, serveGeneration}
	keyEndpoint        = &endpoint{"key", http.MethodGet, 0, false, serveKey}
	limitsEndpoint     = &endpoint{"limits", http.MethodGet, 0, false, serveLimits} // less without limits:read
	creditsEndpoint    = &endpoint{"credits", http.MethodGet, keys.KeysManage, false, serveCredits}
	aboutEndpoint      = &endpoint{"about", http.MethodGet, 0, false, serveAbout} // less without activity:read
	providersEndpoint  = &endpoint{"providers", http.MethodGet, keys.ProvidersRead, false, serveProviders}
	serversEndpoint    = &endpoint{"mcp_servers", http.MethodGet, keys.MCPCall, false, serveMCPServers}

	listKeysEndpoint  = &endpoint{"keys", http.MethodGet, keys.KeysManage, false, listKeys}
	createKeyEndpoint = &endpoint{"keys", http.MethodPost, keys.KeysManage, true, createKey}
	showKeyEndpoint   = &endpoint{"keys", http.MethodGet, keys.KeysManage, false, showKey}
	updateKeyEndpoint = &endpoint{"keys", http.MethodPatch, keys.KeysManage, true, updateKey}
	deleteKeyEndpoint = &endpoint{"keys", http.MethodDelete, keys.KeysManage, true, deleteKey}
	rotateKeyEndpoint = &endpoint{"keys", http.MethodPost, keys.KeysManage, true, rotateKey}

	vncURLEndpoint     = &endpoint{"vnc_url", http.MethodPost, keys.WorkstationsConnect, true, serveVNCURL}
	listEndpoint       = &endpoint{"workstations", http.MethodGet, 0, false, serveWorkstations} // one of three scopes
	showEndpoint       = &endpoint{"workstations", http.MethodGet, 0, false, serveWorkstation}
	registerEndpoint   = &endpoint{"workstations", http.MethodPut, keys.WorkstationsManage, true, registerWorkstation}
	syncEndpoint       = &endpoint{"workstations", http.MethodPost, keys.WorkstationsManage, true, syncWorkstations}
	releaseEndpoint    = &endpoint{"workstations", http.MethodDelete, keys.WorkstationsManage, true, releaseWorkstation}
	screenshotEndpoint = &endpoint{"screen", http.MethodGet, keys.WorkstationsAutomate, false, serveScreenshot}
	actEndpoint        = &endpoint{"screen", http.MethodPost, keys.WorkstationsAutomate, true, serveInput}
	refreshEndpoint    = &endpoint{"workstations", http.MethodPost, keys.WorkstationsManage, true, refreshWorkstation}
	sessionsEndpoint   = &endpoint{"workstations", http.MethodGet, keys.WorkstationsManage, false, serveSessions}
	endSessionEndpoint = &endpoint{"workstations", http.MethodDelete, keys.WorkstationsManage, true, endSession}

	controlEndpoint       = &endpoint{"screen", http.MethodGet, 0, false, serveControl} // one of three scopes
	changeControlEndpoint = &endpoint{"screen", http.MethodPost, 0, true, changeControl}

	mcpEndpoint       = &endpoint{"mcp", http.MethodPost, keys.MCPCall, true, serveMCP}
	mcpStreamEndpoint = &endpoint{"mcp", http.MethodGet, keys.MCPCall, true, serveMCP}
	mcpEndEndpoint    = &endpoint{"mcp", http.MethodDelete, keys.MCPCall, true, serveMCP}

	openSessionsEndpoint   = &endpoint{"sessions", http.MethodGet, 0, false, serveOpenSessions} // one of two scopes
	endOpenSessionEndpoint = &endpoint{"sessions", http.MethodDelete, 0, true, endOpenSession}
	guestsEndpoint         = &endpoint{"sessions", http.MethodPost, keys.WorkstationsConnect, true, inviteGuest}

	recordingsEndpoint = &endpoint{"recordings", http.MethodGet, keys.RecordingsRead, false, serveRecordings}
	recordingEndpoint  = &endpoint{"recordings", http.MethodGet, keys.RecordingsRead, true, serveRecording}
	recordingFile      = &endpoint{"recordings", http.MethodGet, keys.RecordingsRead, true, serveRecordingFile}
	recordingFBS       = &endpoint{"recordings", http.MethodGet, keys.RecordingsRead, true, serveFBS}
	recordingSocket    = &endpoint{"recordings", http.MethodGet, keys.RecordingsRead, true, serveReplay}
	deleteRecordingEnd = &endpoint{"recordings", http.MethodDelete, keys.RecordingsManage, true, deleteRecording}
)

var socketEndpoint = &endpoint{"vnc_socket", http.MethodGet, keys.WorkstationsConnect, false, serveVNCSocket}

// route is one row of the table. A path that ends in a slash takes the rest of the request's path
// as a name, because the name of a model has slashes. {model} is such a name within a path, which must
// stand before the one that it ends the path in; {id},
// {hash} and {session} stand for one segment each.
type route struct {
	path     string
	api      api.API
	endpoint *endpoint
}

// syncPath is also that of a workstation with the name of its last segment.
const syncPath = "/v1/workstations/sync"

// routes is the one table of the API.
var routes = []route{
	{"/v1/models", api.OpenAI{}, modelsEndpoint},
	{"/v1/models/", api.OpenAI{}, modelsEndpoint},
	{"/v1/chat/completions", api.OpenAI{}, chatEndpoint},
	{"/v1/responses", api.OpenAI{}, responsesEndpoint},
	{"/v1/responses/input_tokens", api.OpenAI{}, inputEndpoint},
	{"/v1/responses/compact", api.OpenAI{}, compactEndpoint},
	{"/v1/responses/{id}", api.OpenAI{}, readEndpoint},
	{"/v1/responses/{id}", api.OpenAI{}, deleteEndpoint},
	{"/v1/responses/{id}/cancel", api.OpenAI{}, cancelEndpoint},
	{"/v1/responses/{id}/input_items", api.OpenAI{}, itemsEndpoint},
	{"/v1/embeddings", api.OpenAI{}, embeddingsEndpoint},
	{"/v1/rerank", api.OpenAI{}, rerankEndpoint},
	{"/v2/rerank", api.OpenAI{}, rerankEndpoint}, // Cohere's SDKs
	{"/v1/moderations", api.OpenAI{}, moderateEndpoint},
	{"/v1/completions", api.OpenAI{}, completeEndpoint},
	{"/v1/images/generations", api.OpenAI{}, imagesEndpoint},
	{"/v1/images/edits", api.OpenAI{}, imageEditsEndpoint},
	{"/v1/audio/speech", api.OpenAI{}, speechEndpoint},
	{"/v1/audio/transcriptions", api.OpenAI{}, transcribeEndpoint},
	{"/v1/audio/translations", api.OpenAI{}, translateEndpoint},
	{"/v1/about", api.OpenAI{}, aboutEndpoint},
	{"/v1/providers", api.OpenAI{}, providersEndpoint},
	{"/v1/mcp", api.OpenAI{}, serversEndpoint},
	{"/v1/messages", api.Anthropic{}, messagesEndpoint},
	{"/v1/messages/count_tokens", api.Anthropic{}, countEndpoint},

	{"/v1beta/models", api.Google{}, modelsEndpoint},
	{"/v1beta/models/{model}:generateContent", api.Google{}, generateEndpoint},
	{"/v1beta/models/{model}:streamGenerateContent", api.Google{}, generateStream},
	{"/v1beta/models/{model}:countTokens", api.Google{}, countContent},
	{"/v1beta/models/{model}:embedContent", api.Google{}, embedContent},
	{"/v1beta/models/{model}:batchEmbedContents", api.Google{}, batchEmbedContents},
	{"/v1beta/models/", api.Google{}, modelsEndpoint},

	{"/v1/workstations", api.OpenAI{}, listEndpoint},
	{"/v1/workstations/{id}/socket", api.OpenAI{}, socketEndpoint},
	{"/v1/workstations/{id}", api.OpenAI{}, showEndpoint},
	{"/v1/workstations/{id}", api.OpenAI{}, registerEndpoint},
	{"/v1/workstations/{id}", api.OpenAI{}, releaseEndpoint},
	{syncPath, api.OpenAI{}, syncEndpoint},
	{syncPath, api.OpenAI{}, showEndpoint}, // of a workstation with that name
	{syncPath, api.OpenAI{}, registerEndpoint},
	{syncPath, api.OpenAI{}, releaseEndpoint},
	{"/v1/workstations/{id}/vnc", api.OpenAI{}, vncURLEndpoint},
	{"/v1/workstations/{id}/screenshot", api.OpenAI{}, screenshotEndpoint},
	{"/v1/workstations/{id}/input", api.OpenAI{}, actEndpoint},
	{"/v1/workstations/{id}/refresh", api.OpenAI{}, refreshEndpoint},
	{"/v1/workstations/{id}/control", api.OpenAI{}, controlEndpoint},
	{"/v1/workstations/{id}/control", api.OpenAI{}, changeControlEndpoint},
	{"/v1/workstations/{id}/sessions", api.OpenAI{}, sessionsEndpoint},
	{"/v1/workstations/{id}/sessions/{session}", api.OpenAI{}, endSessionEndpoint},
	{"/mcp/{id}", api.MCP{}, mcpEndpoint},
	{"/mcp/{id}", api.MCP{}, mcpStreamEndpoint},
	{"/mcp/{id}", api.MCP{}, mcpEndEndpoint},

	{"/v1/sessions", api.OpenAI{}, openSessionsEndpoint},
	{"/v1/sessions/{id}", api.OpenAI{}, endOpenSessionEndpoint},
	{"/v1/sessions/{id}/guests", api.OpenAI{}, guestsEndpoint},

	{"/v1/recordings", api.OpenAI{}, recordingsEndpoint},
	{"/v1/recordings/{id}", api.OpenAI{}, recordingEndpoint},
	{"/v1/recordings/{id}", api.OpenAI{}, deleteRecordingEnd},
	{"/v1/recordings/{id}/file", api.OpenAI{}, recordingFile},
	{"/v1/recordings/{id}/fbs", api.OpenAI{}, recordingFBS},
	{"/v1/recordings/{id}/socket", api.OpenAI{}, recordingSocket},

	{"/api/v1/models", api.OpenRouter{}, modelsEndpoint},
	{"/api/v1/model/", api.OpenRouter{}, modelsEndpoint},
	{"/api/v1/models/count", api.OpenRouter{}, countModels},
	{"/api/v1/models/{model}/endpoints", api.OpenRouter{}, modelEndpoints},
	{"/api/v1/chat/completions", api.OpenRouter{}, chatEndpoint},
	{"/api/v1/responses", api.OpenRouter{}, responsesEndpoint},
	{"/api/v1/embeddings", api.OpenRouter{}, embeddingsEndpoint},
	{"/api/v1/rerank", api.OpenRouter{}, routerRerank},
	{"/api/v1/completions", api.OpenRouter{}, completeEndpoint},
	{"/api/v1/audio/speech", api.OpenRouter{}, speechEndpoint},
	{"/api/v1/audio/transcriptions", api.OpenRouter{}, transcribeEndpoint},
	{"/api/v1/images", api.OpenRouter{}, routerImages},
	{"/api/v1/embeddings/models", api.OpenRouter{}, embeddersEndpoint},
	{"/api/v1/images/models", api.OpenRouter{}, imageModels},
	{"/api/v1/messages", api.Anthropic{}, messagesEndpoint},
	{"/api/v1/messages/count_tokens", api.Anthropic{}, countEndpoint},
	{"/api/v1/activity", api.OpenRouter{}, activityEndpoint},
	{"/api/v1/activity/series", api.OpenRouter{}, seriesEndpoint},
	{"/api/v1/generation", api.OpenRouter{}, generationEndpoint},
	{"/api/v1/key", api.OpenRouter{}, keyEndpoint},
	{"/api/v1/auth/key", api.OpenRouter{}, keyEndpoint}, // its older name
	{"/api/v1/limits", api.OpenRouter{}, limitsEndpoint},
	{"/api/v1/keys", api.OpenRouter{}, listKeysEndpoint},
	{"/api/v1/keys", api.OpenRouter{}, createKeyEndpoint},
	{"/api/v1/keys/{hash}", api.OpenRouter{}, showKeyEndpoint},
	{"/api/v1/keys/{hash}", api.OpenRouter{}, updateKeyEndpoint},
	{"/api/v1/keys/{hash}", api.OpenRouter{}, deleteKeyEndpoint},
	{"/api/v1/keys/{hash}/rotate", api.OpenRouter{}, rotateKeyEndpoint},
	{"/api/v1/credits", api.OpenRouter{}, creditsEndpoint},
}

// routeNames has what [routeName] returns, made once.
var routeNames = func() map[familyEndpoint]string {
	m := make(map[familyEndpoint]string, len(routes))
	for i := range routes {
		r := &routes[i]
		key := familyEndpoint{r.api.Name(), r.endpoint}
		if m[key] == "" {
			m[key] = r.endpoint.method + " " + r.path
		}
	}
	m[familyEndpoint{api.Anthropic{}.Name(), modelsEndpoint}] = "GET /v1/models" // see matchRequest
	return m
}()

// RouteNames returns all names that routeName has for the table, sorted.
func RouteNames() []string {
	return slices.Compact(slices.Sorted(maps.Values(routeNames)))
}

type familyEndpoint struct {
	family   string
	endpoint *endpoint
}

// routeName names an endpoint of a family in records, metrics and logs: its method and its first
// path in the table. An endpoint that the site's own routes serve for another family has its own
// name.
func routeName(a api.API, e *endpoint) string {
	if name := routeNames[familyEndpoint{a.Name(), e}]; name != "" {
		return name
	}
	return e.method + " " + e.name
}
