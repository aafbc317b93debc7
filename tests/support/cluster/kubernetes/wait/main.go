// Command wait ends at once, in the place of one that waits for something.
package main

func main() {}
