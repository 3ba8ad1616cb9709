package answers

import "slices"

// Event is one event of a stream.
type Event struct {
	Name string // of the line "event:"; "": without one
	Data Object
	Text bool // begins the next piece of the answer
}

// Done ends the stream of a chat answer.
var Done = Event{}

// Encode is the event on the wire.
func (e Event) Encode() []byte {
	name, data := "", []byte("[DONE]")
	if e.Name != "" {
		name = "event: " + e.Name + "\n"
	}
	if e.Data != nil {
		data = Encode(e.Data)
	}
	return slices.Concat([]byte(name+"data: "), data, []byte("\n\n"))
}
