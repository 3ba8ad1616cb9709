package translate

import "slices"

// MessageFields are the fields of a chat's messages, by role, that a translation takes.
type MessageFields map[string][]string

// messageName is how the name of a message's author is named among the fields that are left out.
// No other API has it. It is not put before the text, because a model would write it, too.
const messageName = "messages.name"

// Role returns the role of a message, and refuses a message with other fields. It notes in leftOut
// that the message names its author. The name in a tool's message says what its call says.
func (f MessageFields) Role(o Reader, leftOut *[]string) string {
	role := o.DecodedText("role")
	known, ok := f[role]
	switch {
	case role == "":
		o.Fail(Missing(o.Param("role")))
	case !ok:
		o.Fail(UnsupportedValue(o.Param("role"), role))
	}
	o.Only(known...)
	if role != "tool" && o.Get("name") != nil && !slices.Contains(*leftOut, messageName) {
		*leftOut = append(*leftOut, messageName)
	}
	return role
}

// PartFields are the fields of the content parts of a chat's messages, by type, that a translation
// takes.
type PartFields map[string][]string

// Type returns the type of a part, and refuses a part with other fields.
func (f PartFields) Type(part Reader) string {
	typ := TypeOf(part)
	known, ok := f[typ]
	if !ok {
		RefuseType(part, typ)
	}
	part.Only(known...)
	return typ
}
