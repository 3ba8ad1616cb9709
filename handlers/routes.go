package handlers

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

var (
	chatEndpoint       = &Operation{"chat", http.MethodPost, keys.ChatWrite, true, serveChat}
	responsesEndpoint  = &Operation{"responses", http.MethodPost, keys.ChatWrite, true, serveResponses}
	inputEndpoint      = &Operation{"input_tokens", http.MethodPost, keys.ChatWrite, true, serveInputTokens}
	compactEndpoint    = &Operation{"compact", http.MethodPost, keys.ChatWrite, true, serveCompact}
	readEndpoint       = &Operation{"stored_responses", http.MethodGet, keys.ChatWrite, true, readResponse}
	deleteEndpoint     = &Operation{"stored_responses", http.MethodDelete, keys.ChatWrite, true, deleteResponse}
	cancelEndpoint     = &Operation{"stored_responses", http.MethodPost, keys.ChatWrite, true, cancelResponse}
	itemsEndpoint      = &Operation{"stored_responses", http.MethodGet, keys.ChatWrite, true, listInputItems}
	messagesEndpoint   = &Operation{"messages", http.MethodPost, keys.ChatWrite, true, serveMessages}
	countEndpoint      = &Operation{"count_tokens", http.MethodPost, keys.ChatWrite, true, serveCountTokens}
	embeddingsEndpoint = &Operation{"embeddings", http.MethodPost, keys.ChatWrite, true, serveEmbeddings}
	rerankEndpoint     = &Operation{"rerank", http.MethodPost, keys.ChatWrite, true, serveRerank}
	routerRerank       = &Operation{"rerank", http.MethodPost, keys.ChatWrite, true, serveRouterRerank}
	completeEndpoint   = &Operation{"completions", http.MethodPost, keys.ChatWrite, true, serveCompletions}
	moderateEndpoint   = &Operation{"moderations", http.MethodPost, keys.ChatWrite, true, serveModerations}
	imagesEndpoint     = &Operation{"images", http.MethodPost, keys.ChatWrite, true, serveImages}
	routerImages       = &Operation{"router_images", http.MethodPost, keys.ChatWrite, true, serveRouterImages}
	imageEditsEndpoint = &Operation{"image_edits", http.MethodPost, keys.ChatWrite, true, serveImageEdits}
	modelsEndpoint     = &Operation{"models", http.MethodGet, keys.ModelsRead, false, serveModels}
	embeddersEndpoint  = &Operation{"embedding_models", http.MethodGet, keys.ModelsRead, false, serveEmbeddingModels}
	imageModels        = &Operation{"image_models", http.MethodGet, keys.ModelsRead, false, serveImageModels}
	countModels        = &Operation{"model_count", http.MethodGet, keys.ModelsRead, false, serveModelCount}
	modelEndpoints     = &Operation{"model_endpoints", http.MethodGet, keys.ModelsRead, false, serveModelEndpoints}
	activityEndpoint   = &Operation{"activity", http.MethodGet, keys.ActivityRead, false, serveActivity}
	seriesEndpoint     = &Operation{"activity_series", http.MethodGet, keys.ActivityRead, false, serveSeries}
	generationEndpoint = &Operation{"generation", http.MethodGet, keys.ActivityRead, false, serveGeneration}
	keyEndpoint        = &Operation{"key", http.MethodGet, 0, false, serveKey}
	limitsEndpoint     = &Operation{"limits", http.MethodGet, 0, false, serveLimits} // less without limits:read
	creditsEndpoint    = &Operation{"credits", http.MethodGet, keys.KeysManage, false, serveCredits}
	aboutEndpoint      = &Operation{"about", http.MethodGet, 0, false, serveAbout} // less without activity:read
	providersEndpoint  = &Operation{"providers", http.MethodGet, keys.ProvidersRead, false, serveProviders}

	vncURLEndpoint     = &Operation{"vnc_url", http.MethodPost, keys.WorkstationsConnect, true, serveVNCURL}
	listEndpoint       = &Operation{"workstations", http.MethodGet, 0, false, serveWorkstations} // one of three scopes
	showEndpoint       = &Operation{"workstations", http.MethodGet, 0, false, serveWorkstation}
	registerEndpoint   = &Operation{"workstations", http.MethodPut, keys.WorkstationsManage, true, registerWorkstation}
	syncEndpoint       = &Operation{"workstations", http.MethodPost, keys.WorkstationsManage, true, syncWorkstations}
	releaseEndpoint    = &Operation{"workstations", http.MethodDelete, keys.WorkstationsManage, true, releaseWorkstation}
	refreshEndpoint    = &Operation{"workstations", http.MethodPost, keys.WorkstationsManage, true, refreshWorkstation}
	sessionsEndpoint   = &Operation{"workstations", http.MethodGet, keys.WorkstationsManage, false, serveSessions}
	endSessionEndpoint = &Operation{"workstations", http.MethodDelete, keys.WorkstationsManage, true, endSession}

	openSessionsEndpoint   = &Operation{"sessions", http.MethodGet, 0, false, serveOpenSessions} // one of two scopes
	endOpenSessionEndpoint = &Operation{"sessions", http.MethodDelete, 0, true, endOpenSession}
	guestsEndpoint         = &Operation{"sessions", http.MethodPost, keys.WorkstationsConnect, true, inviteGuest}
)

// SyncPath is also the path of a workstation that is named as its last segment.
const SyncPath = "/v1/workstations/sync"

func init() { Register(routes...) }

// routes are the rows of the core. Features add theirs.
var routes = []Route{
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
	{"/v1/about", api.OpenAI{}, aboutEndpoint},
	{"/v1/providers", api.OpenAI{}, providersEndpoint},
	{"/v1/messages", api.Anthropic{}, messagesEndpoint},
	{"/v1/messages/count_tokens", api.Anthropic{}, countEndpoint},

	{"/v1beta/models", api.Google{}, modelsEndpoint},
	{"/v1beta/models/", api.Google{}, modelsEndpoint},

	{"/v1/workstations", api.OpenAI{}, listEndpoint},
	{"/v1/workstations/{id}", api.OpenAI{}, showEndpoint},
	{"/v1/workstations/{id}", api.OpenAI{}, registerEndpoint},
	{"/v1/workstations/{id}", api.OpenAI{}, releaseEndpoint},
	{SyncPath, api.OpenAI{}, syncEndpoint},
	{SyncPath, api.OpenAI{}, showEndpoint}, // of a workstation with that name
	{SyncPath, api.OpenAI{}, registerEndpoint},
	{SyncPath, api.OpenAI{}, releaseEndpoint},
	{"/v1/workstations/{id}/vnc", api.OpenAI{}, vncURLEndpoint},
	{"/v1/workstations/{id}/refresh", api.OpenAI{}, refreshEndpoint},
	{"/v1/workstations/{id}/sessions", api.OpenAI{}, sessionsEndpoint},
	{"/v1/workstations/{id}/sessions/{session}", api.OpenAI{}, endSessionEndpoint},

	{"/v1/sessions", api.OpenAI{}, openSessionsEndpoint},
	{"/v1/sessions/{id}", api.OpenAI{}, endOpenSessionEndpoint},
	{"/v1/sessions/{id}/guests", api.OpenAI{}, guestsEndpoint},

	{"/api/v1/models", api.OpenRouter{}, modelsEndpoint},
	{"/api/v1/model/", api.OpenRouter{}, modelsEndpoint},
	{"/api/v1/models/count", api.OpenRouter{}, countModels},
	{"/api/v1/models/{model}/endpoints", api.OpenRouter{}, modelEndpoints},
	{"/api/v1/chat/completions", api.OpenRouter{}, chatEndpoint},
	{"/api/v1/responses", api.OpenRouter{}, responsesEndpoint},
	{"/api/v1/embeddings", api.OpenRouter{}, embeddingsEndpoint},
	{"/api/v1/rerank", api.OpenRouter{}, routerRerank},
	{"/api/v1/completions", api.OpenRouter{}, completeEndpoint},
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
	{"/api/v1/credits", api.OpenRouter{}, creditsEndpoint},
}
