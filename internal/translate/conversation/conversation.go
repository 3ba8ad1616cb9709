// Package conversation has what is said in a request, in whatever API it came, for the target of a
// translation: turns, tools and the choice among them. A caller's API reads it once with a
// [Builder]. What the target demands of it is said by its [Rules], and is done here, so that a
// target only writes:
//
//	request := conversation.OfChat(body) // or of the package of another API
//	c := request.Read(&rules) // request.Err() is what is refused
//	for _, turn := range c.Turns {
//		for _, part := range turn.Parts { … }
//	}
//
// Nothing is decoded that need not be: texts, names, arguments and schemas are the caller's bytes.
// The same request always becomes the same conversation, and a longer request one that begins like
// that of the shorter: caches of prompts depend on it.
package conversation

import (
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// Role says whose turn it is.
type Role uint8

const (
	System    Role = iota // the operator of the application
	User                  //
	Assistant             // the model
	Results               // tools, to the model's calls
)

// Turn is what one side says.
type Turn struct {
	Role  Role
	Word  string // the role as the caller wrote it: system, developer, user, assistant, tool
	Parts []Part
}

// Side returns the role for a target that knows two, the user and the model, which has this role
// there.
func (t *Turn) Side(model string) string {
	if t.Role == Assistant {
		return model
	}
	return "user"
}

// Kind is a kind of part. Kinds are a set.
type Kind uint16

const (
	Text Kind = 1 << iota
	Refusal
	Image
	File
	Sound
	Video
	Thought
	Reasoning // a thought without a signature
	Call
	Result
)

// Has reports whether a set has a kind.
func (k Kind) Has(one Kind) bool { return k&one != 0 }

// Part is a piece of a turn.
type Part struct {
	Kind  Kind
	Text  []byte // of a text or a refusal, quoted; of reasoning, without its quotes
	Cache []byte // cache_control, an object: the provider caches up to this part; nil for none
	Whole bool   // a text that is all of the content, and no element of a list

	Media   *Media             // of an image, a file, sound or video
	Thought *translate.Thought // of a thought
	Call    *ToolCall          // of a call
	Result  *ToolResult        // of a result
}

// ToolCall is a call of the model.
type ToolCall struct {
	ID        []byte // quoted
	Name      []byte // of the tool, quoted
	Arguments []byte // a quoted text
	Input     []byte // the arguments as an object, if the rules ask for it
	Signature []byte // that the provider gave with it, quoted; nil for none
	Custom    bool   // the arguments are no object, but a text

	turn    int       // that it is in
	n       int       // among all calls
	results int       // how many it has
	again   *ToolCall // the next of the turn with the same id, nil for none
}

// ToolResult is what a tool answers.
type ToolResult struct {
	Call   *ToolCall // to which it answers
	Parts  []Part    // texts and media
	Failed bool      // the tool says that it failed
}

// Media is an image, a file, sound or video.
type Media struct {
	translate.Media        // what its address says
	Param           string // the path of the address, or of the bytes
	URL             []byte // the address as it was written, quoted; nil for bytes alone
	Linked          bool   // it was written as the address of a file, not as its bytes
	Name            []byte // of the file, quoted; nil for none
	Detail          []byte // quoted; nil for none
	Format          []byte // of sound, quoted
	ID              []byte // of a file that the provider has, quoted; nil for none
}

// PutSound writes the members of sound, which chat completions and Responses have alike.
func (m *Media) PutSound(w *translate.Writer) {
	w.StringMember("type", "input_audio")
	w.Object("input_audio")
	w.TextMember("data", m.Data)
	w.Member("format", m.Format)
	w.End()
}

// Conversation is what a request says, as its target takes it.
type Conversation struct {
	System  []Part // what the system says, unless it stands in the turns
	Turns   []Turn
	Tools   []Tool
	Choice  Choice
	LeftOut []string // the names of fields that are not sent

	// Described says that the request has no tools, and that all of Tools were called before.
	Described bool

	rules *Rules
	body  translate.Reader
	calls []*ToolCall          // of all turns
	open  map[string]openCalls // by their ids
	names translate.Names
}

// Names returns the caller's names of tools, quoted, by those that the target got, where they
// differ; nil for none.
func (c *Conversation) Names() translate.Names { return c.names }

// Continues reports whether the last turn is the model's, who goes on with it.
func (c *Conversation) Continues() bool {
	return len(c.Turns) > 0 && c.Turns[len(c.Turns)-1].Role == Assistant
}

// Loops reports whether the model waits for results, which the last turn has.
func (c *Conversation) Loops() bool {
	n := len(c.Turns)
	return n > 0 && len(c.Turns[n-1].Parts) > 0 && c.Turns[n-1].Parts[0].Kind == Result
}

// Thought reports whether the last turn of the model begins with thoughts.
func (c *Conversation) Thought() bool {
	for i := len(c.Turns) - 1; i >= 0; i-- {
		if t := &c.Turns[i]; t.Role == Assistant {
			return len(t.Parts) > 0 && t.Parts[0].Kind == Thought
		}
	}
	return false
}
