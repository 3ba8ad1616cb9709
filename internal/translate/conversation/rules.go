package conversation

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// Rules are what a target demands of a conversation. The zero value takes texts, calls and results
// as they were written.
type Rules struct {
	Media     Kind // what users and tools may send besides texts
	Assistant Kind // what the model may have said besides texts, refusals and calls
	Files     bool // a file may be one that the provider has, by its id
	Failures  bool // a result can say that the tool failed; else its text says so
	Links     bool // a file may be an address
	Cache     bool // cache_control is taken
	Optional  bool // properties of the schema of a strict tool may be optional
	Reasoning bool // thoughts without a signature return
	Custom    bool // a tool may take a text, and no object
	Inputs    bool // the arguments of a call are an object, and no text

	Origin     string // whose thoughts return; "" for none
	Signatures string // the format of the signatures that calls have; "" for none

	Texts  Texts
	System Place
	Merge  Merge
	IDs    translate.Naming // of calls
	Names  translate.Naming // of tools

	UserFirst bool // the conversation begins with the user
	NoPrefill bool // it does not end with the model
	TrimEnd   bool // where it ends with the model, it does not end with white space

	Results Answered
	History History
	Typed   func(typ string) bool // a tool of this type is the provider's own, and goes as it was written; nil: none is
	Allowed bool                  // a choice can limit the request to some tools; else the others are left out
	OnlyOne bool                  // the other tools are left out if one must be called
	NoNone  bool                  // there is no choice "none": such a request has no tools but those that were called
}

// Texts says which texts a target takes.
type Texts uint8

const (
	AnyText     Texts = iota
	NotEmpty          // an empty text is left out
	NotAllBlank       // likewise, and a message that has only white space
	NotBlank          // a text of only white space is left out
)

// Place says where the texts of the system stand.
type Place uint8

const (
	InPlace Place = iota // where they were written
	InFront              // before all turns, wherever they were written
	Leading              // in front, if they were written there; later ones become turns of the user
)

// Merge says which turns that follow each other become one.
type Merge uint8

const (
	Apart       Merge = iota
	OneRole           // those of one role
	WithResults       // likewise, and results are the user's, in front of what the user says
)

// Answered says how many results a call of the history has.
type Answered uint8

const (
	AnyNumber Answered = iota
	ExactlyOne
	AllOrNone // each call of a turn has one, or none of them has any
)

// History says whether a request must have the tools that were called. One that it no longer has is
// described by its name.
type History uint8

const (
	NoHistory    History = iota
	HistoryAlone         // if it has no tools else
	HistoryAll           // always
)
