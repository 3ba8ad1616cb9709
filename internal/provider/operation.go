package provider

import "net/http"

// Operation is what a call asks of a provider.
type Operation string

// The operations of the gateway's API.
const (
	Chat      Operation = "chat"
	Responses Operation = "responses"
	Models    Operation = "models"

	Messages    Operation = "messages"
	CountTokens Operation = "count_tokens"
	InputTokens Operation = "input_tokens" // the same of the Responses API
	Compact     Operation = "compact"
	Embeddings  Operation = "embeddings"
	Rerank      Operation = "rerank"
	Moderations Operation = "moderations"
	Completions Operation = "completions"
	Images      Operation = "images"
	ImageEdits  Operation = "image_edits"
	Speech      Operation = "speech"

	Transcriptions Operation = "transcriptions"
	Translations   Operation = "translations"
	RouterImages   Operation = "router_images" // OpenRouter's
	Realtime       Operation = "realtime"      // a WebSocket

	// Requests about a response that the provider keeps. They name no model but the response.
	ReadResponse   Operation = "read_response"
	DeleteResponse Operation = "delete_response"
	CancelResponse Operation = "cancel_response"
	InputItems     Operation = "input_items"

	// Google's API.
	GenerateContent    Operation = "generate_content"
	CountContent       Operation = "count_content"
	EmbedContent       Operation = "embed_content"
	BatchEmbedContents Operation = "batch_embed_contents"
)

var operations = [...]Operation{
	Chat, Responses, Models, Messages, CountTokens, InputTokens, Embeddings, Rerank, Moderations, Completions,
	Images, ImageEdits, RouterImages, Speech, Transcriptions, Translations, Realtime,
	Compact, ReadResponse, DeleteResponse, CancelResponse, InputItems,
	GenerateContent, CountContent, EmbedContent, BatchEmbedContents,
}

// responsesAPI has the operations that a provider without the Responses API lacks.
var responsesAPI = [...]Operation{Responses, InputTokens, Compact, ReadResponse, DeleteResponse, CancelResponse, InputItems}

// method is the method of the operation's requests.
func (op Operation) method() string {
	switch op {
	case Models, ReadResponse, InputItems, Realtime:
		return http.MethodGet
	case DeleteResponse:
		return http.MethodDelete
	}
	return http.MethodPost
}
