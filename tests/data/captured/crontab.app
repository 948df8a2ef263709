SHELL=/usr/local/bin/truthsh
* * * * * sleep 4; echo user
*/2 * * * * exit 3
