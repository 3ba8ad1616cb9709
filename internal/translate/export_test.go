package translate

// Repeated is what every response object repeats of a request.
func (e *Echo) Repeated() string { return string(e.fields) }

// Fields is the table of request fields.
func Fields() map[string]string {
	table := make(map[string]string, len(fields))
	for key, f := range fields {
		table[key] = string(f)
	}
	return table
}

// The bounds.
const (
	MaxItems = maxItems
	MaxText  = maxText
)

// ChatFields is the table of the fields of a chat request.
func ChatFields() map[string]string {
	table := make(map[string]string, len(chatFields))
	for key, f := range chatFields {
		table[key] = string(f)
	}
	return table
}

// Neutral are the values of refused fields that are dropped.
func Neutral() map[string][]string { return neutral }
