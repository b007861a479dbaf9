#!/bin/sh
# The check in a mod of a Luanti server: spec/engines/luanti.sh FOLDER, which is made anew for the world and a game of
# one mod. Mods may load C modules only where the server's settings trust them by name.
set -e
folder=$1
rm -rf "$folder"
mod=$folder/games/check/mods/check
mkdir -p "$mod" "$folder/world"
echo "title = check" >"$folder/games/check/game.conf"
echo 'name = check' >"$mod/mod.conf"
cp spec/engines/luanti.lua "$mod/init.lua"
cat >"$folder/world/world.mt" <<'END'
gameid = check
backend = dummy
player_backend = dummy
auth_backend = files
END
cat >"$folder/server.conf" <<'END'
secure.enable_security = true
secure.trusted_mods = check
bind_address = 127.0.0.1
port = 30429
mg_name = singlenode
server_announce = false
END
export MINETEST_SUBGAME_PATH="$PWD/$folder/games" HOME="$PWD/$folder"
exec minetestserver --world "$folder/world" --config "$folder/server.conf" --logfile "$folder/log" --gameid check
