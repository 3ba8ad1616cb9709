package openai

import "strings"

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

	// KindInputItem is an item that a response was made from, by the ids of both. The caller may have given
	// the item its id, so it only says where a list goes on.
	KindInputItem Kind = "input_item"
)

// kindPrefixes are how vendors begin the ids of one kind only. Items begin in many ways, and small servers
// have ids without a prefix.
var kindPrefixes = []struct {
	prefix string
	kind   Kind
}{
	{"resp_", KindResponse}, {"conv_", KindConversation}, {"file-", KindFile}, {"file_", KindFile}, {"cfile_", KindFile},
	{"vs_", KindVectorStore}, {"cntr_", KindContainer}, {"container_", KindContainer}, {"pmpt_", KindPrompt}, {"skill_", KindSkill},
	{"audio_", KindAudio},
}

// Fits reports whether an id can be one of the kind: it does not begin like those of another kind.
func (k Kind) Fits(id string) bool {
	for _, p := range kindPrefixes {
		if k != KindInputItem && k != p.kind && strings.HasPrefix(id, p.prefix) {
			return false
		}
	}
	return true
}

// InputItemID is the id of an item that a response was made from, among those of a [KindInputItem].
func InputItemID(response, item string) string { return response + "/" + item }

// MaxStateID bounds the id of one stored object, in bytes: it goes into error texts and a table.
const MaxStateID = 512
