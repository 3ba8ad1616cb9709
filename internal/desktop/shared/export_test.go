package shared

// Look is what Desks does every second.
func (d *Desks) Look() { d.look() }

// EndedAgain reads an event of ended sessions, and writes it again.
func EndedAgain(text string) (again string, ok bool) {
	e, ok := parseEnded(text)
	return e.String(), ok
}
