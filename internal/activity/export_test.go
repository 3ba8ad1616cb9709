package activity

// SetMaxDays lets a test reach the bound of Daily with few rows.
func (l *Log) SetMaxDays(n int) { l.maxDays = n }
