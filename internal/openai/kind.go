package openai

// Kind is a kind of state that a provider keeps at the account it is called
// with, which many tenants share.
type Kind string

// The kinds.
const (
	KindResponse     Kind = "response"
	KindConversation Kind = "conversation"
	KindItem         Kind = "item"
	KindFile         Kind = "file"
	KindVectorStore  Kind = "vector_store"
	KindContainer    Kind = "container"
	KindPrompt       Kind = "prompt"
	KindSkill        Kind = "skill"
	KindAudio        Kind = "audio"
)

// MaxStateID bounds the id of one stored object, in bytes: it goes into error texts and a table.
const MaxStateID = 512
