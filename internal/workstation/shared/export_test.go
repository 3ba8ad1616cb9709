package shared

// Look is what Desks does every second.
func (d *Desks) Look() { d.look() }
